// truth: safe
static unsigned char a = -1; static signed char b = 200; static short c = 70000; static _Bool d = 0x100; static unsigned e = -1; static long f = 0xffffffff; static long g = -1u; static int h = 4294967295u;
int main(void){ assert(a==255&&b==-56&&c==4464&&d==1&&e==4294967295u&&f==4294967295L&&g==4294967295L&&h==-1); return 0; }
