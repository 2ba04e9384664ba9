// truth: refused
#if 99999999999999999999999
int r = 1;
#endif
int main(void){ assert(0); return 0; }
