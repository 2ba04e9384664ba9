// truth: empty
void unused(int x){ assert(x); } int main(void){ return 0; }
