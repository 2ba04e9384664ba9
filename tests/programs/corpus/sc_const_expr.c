// truth: safe
enum { N = 3 * 2 - 1, M = N << 2, K = N > M ? 1 : -1 }; int g = M; int main(void){ assert(N == 5 && g == 20 && K == -1); return 0; }
