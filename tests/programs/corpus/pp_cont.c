// truth: safe
#define LONG 1 \
  + 2
int main(void){ int x = LON\
G; // comment \
   x = 7;
 assert(x == 3); return 0; }
