// truth: safe
int f(unsigned char n){ int c=0; while(n--) c++; return c; } int main(void){ assert(f(256)==0 && f(257)==1 && f(-1)==255); return 0; }
