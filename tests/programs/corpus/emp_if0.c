// truth: empty
int main(void){
#if 0
assert(0);
#endif
return 0; }
