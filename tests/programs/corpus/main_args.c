// truth: unsafe
int main(int argc, char **argv){ assert(argc == 5); return 0; }
