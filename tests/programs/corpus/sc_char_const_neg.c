// truth: safe
int main(void){ assert('\377' == -1 && '\x80' == -128 && '\200' < 0); return 0; }
