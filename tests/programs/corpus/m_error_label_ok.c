// truth: safe
int main(void){ int x = 1; goto out; ERROR: reach_error(); out: assert(x == 1); return 0; }
