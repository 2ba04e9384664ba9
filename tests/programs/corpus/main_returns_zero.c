// truth: safe (C11 5.1.2.2.3)
/*@ ensures \result == 0; */
int main(void){ int x = 1; assert(x == 1); }
