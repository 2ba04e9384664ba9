// truth: safe
int main(void){ assert(010 == 8 && 0 == 00 && '\0' == 0 && '\101' == 'A' && '\x41' == 'A' && 'ab' == 24930); return 0; }
