// truth: safe
#if defined(A)
int r = 1;
#elif defined(__clang__)
int r = 3;
#elif defined(__GNUC__) && !defined(_WIN32)
int r = 2;
#endif
int main(void){ assert(r == 2); return 0; }
