// truth: safe
int main(void){ unsigned char a = __VERIFIER_nondet_uchar(); char b = __VERIFIER_nondet_char(); short c = __VERIFIER_nondet_short(); unsigned short d = __VERIFIER_nondet_ushort(); _Bool e = __VERIFIER_nondet_bool(); assert(a <= 255 && b >= -128 && b <= 127 && c >= -32768 && d <= 65535 && (e == 0 || e == 1)); return 0; }
