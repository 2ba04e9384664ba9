// truth: safe
int main(void){ int x = ({ int y = 3; y + 1; }); assert(x == 4); return 0; }
