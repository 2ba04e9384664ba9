// truth: safe
int main(void){ short a = 32767; int b = a * a; assert(b == 1073676289); return 0; }
