// truth: safe
int main(void){ int x = 1; assert(x == 1 && "text"); assert(("note", x)); assert(!(x == 0 && "t")); return 0; }
