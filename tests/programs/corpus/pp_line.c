// truth: safe
int main(void){
  assert(__LINE__ == 3);
#line 100
  assert(__LINE__ == 100);
  return 0; }
