// truth: unsafe
#define CHECK(c) do { if (!(c)) reach_error(); } while (0)
int main(void){ int x = 3; if (x == 3) CHECK(x == 4); else CHECK(x == 3); return 0; }
