// truth: safe
f(x) { return x; } main(){ assert(f(3) == 3); return 0; }
