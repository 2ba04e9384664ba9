// truth: safe
int main(void){ assert((_Bool)256 == 1 && (_Bool)0 == 0 && (char)256 == 0 && (unsigned char)-1 == 255 && (signed char)200 == -56); return 0; }
