// truth: safe
int main(void){ assert(__INT_MAX__ == 2147483647 && __CHAR_BIT__ == 8 && __SIZEOF_LONG__ == 8 && __STDC__ == 1); return 0; }
