// truth: safe
int main(void){ long unsigned int a = -1; short signed b = 40000; unsigned long long int c = -1; char unsigned d = -1; long int long e = 5; assert(a == c && b < 0 && d == 255 && e == 5); return 0; }
