// truth: refused
int main(void){ assert(u'a' == 98); return 0; }
