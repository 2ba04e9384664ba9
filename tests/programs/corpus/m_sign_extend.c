// truth: safe
int main(void){ signed char c = -128; assert(-c == 128 && (signed char)-c == -128 && c / -1 == 128 && c * c == 16384); return 0; }
