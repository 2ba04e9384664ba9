// truth: safe
int main(void){ char a = 'z', b = 1; int s = a + b + 127; assert(s == 250); char t = a + b + 127; assert(t == -6); return 0; }
