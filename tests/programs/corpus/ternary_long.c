// truth: safe
int main(void){ int x = -1; long l = (1 ? x : 0u); assert(l == 4294967295L); return 0; }
