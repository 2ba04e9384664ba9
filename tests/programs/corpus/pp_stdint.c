// truth: safe
#include <stdint.h>
int main(void){ uint8_t a = 256; int16_t b = 40000; uint32_t c = -1; int64_t d = INT64_MAX; assert(a == 0 && b < 0 && c == UINT32_MAX && d > c); return 0; }
