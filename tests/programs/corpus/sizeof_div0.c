// truth: safe
int main(void){ int z = 0; int s = sizeof(1 / z); assert(s == 4); return 0; }
