// truth: safe
int main(void){ int x = sizeof("/* no */ // no"); assert(x == 15); return 0; }
