// truth: safe
int main(void){ assert(_Alignof(int) == 4); return 0; }
