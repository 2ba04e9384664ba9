// truth: unsafe
int main(void){ char c = -1; switch (c) { case '\xff': assert(0); } return 0; }
