// truth: safe
int main(void){ int x = 300; assert((int)(unsigned char)x == 44 && (unsigned char)(signed char)-1 == 255 && (unsigned)(signed char)200 == 4294967240u && (unsigned short)(signed char)-1 == 65535); return 0; }
