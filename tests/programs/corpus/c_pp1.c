// truth: safe
int main(void) {

#if -1 > 0u
assert(1);
#else
assert(0);
#endif

return 0; }
