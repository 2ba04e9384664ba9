// truth: safe
#include <limits.h>
#if defined(INT_MAX) && INT_MAX == 2147483647 && UINT_MAX == 4294967295u && CHAR_MIN < 0 && LONG_MAX > INT_MAX
#define V 1
#else
#define V 2
#endif
int main(void){ assert(V == 1); assert(INT_MIN == -2147483647 - 1 && CHAR_MAX == 127 && UCHAR_MAX == 255 && SHRT_MIN == -32768 && ULONG_MAX == 18446744073709551615ul); return 0; }
