// truth: unsafe
int main(void){ int x = 9; ({ if (x < 5) x++; else { __assert_fail ("", "a.c", 3, ""); } }); return 0; }
