// truth: safe
int main(void) {
int i=0,s=0; for(;;){ switch(i){ case 0: i=2; continue; case 1: goto out; case 2: i=1; default: s++; } s+=10; } out: assert(s==11);
return 0; }
