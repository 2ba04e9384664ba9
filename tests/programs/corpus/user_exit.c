// truth: unsafe
void exit(int s); void quit(int s){ } int main(void){ quit(0); assert(0); return 0; }
