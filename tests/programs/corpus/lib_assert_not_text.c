// truth: unsafe
int main(void){ assert(!"reached"); return 0; }
