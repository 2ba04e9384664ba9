// truth: unsafe (`stderr` is a variable here)
extern int fprintf();
int main(void) { int stderr = 3; if (0) fprintf(stderr--, "x"); stderr--; assert(stderr == 3); return 0; }
