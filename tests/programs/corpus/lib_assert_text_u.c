// truth: unsafe
int main(void){ int x = 0; assert(x && "text"); return 0; }
