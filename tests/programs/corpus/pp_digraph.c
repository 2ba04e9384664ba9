// truth: safe
%:define V 3
int main(void) <% assert(V == 3); return 0; %>
