// truth: safe
int main(void){ ;;; if (1) ; else ; { } int x = 3; ; assert(x == 3); return 0; }
