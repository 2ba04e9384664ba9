// Two counters that move together: why is x never below y at the end?
#include <assert.h>

int nondet(void);

int main(void) {
    int x = 0, y = 0;
    while (nondet()) {
        if (nondet()) {
            x = x + 2;
            y = y + 1;
        } else if (x > y) {
            x = x - 1;
        }
    }
    assert(x >= y);
    return 0;
}
