// truth: safe
int f(int x){ static unsigned char c = 254; switch(x){ case 1: c++; case 2: c++; break; default: c--; } return c; }
int main(void){ f(1); assert(f(2)==1); f(0); assert(f(0)==255); return 0;}
