// truth: safe
int g; void reach_error(void){ g = 1; } int main(void){ assert(1); return 0; }
