// truth: safe
int main(void) {
signed char i=0; int c=0; while(i>=0){ i++; c++; } assert(c==128 && i==-128);
return 0; }
