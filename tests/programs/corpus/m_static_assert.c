// truth: safe
_Static_assert(sizeof(int) == 4, "int"); int main(void){ _Static_assert(1, ""); assert(1); return 0; }
