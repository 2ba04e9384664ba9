// truth: safe
int done=0; void stop(void){ done=1; } int main(void){ int i=0; while(!done){ i++; if(i==7) stop(); } assert(i==7); return 0; }
