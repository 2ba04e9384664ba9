/* Runs compiled programs on many inputs in one process, and says how each run ended.

   Compiled together with programs that were built separately (their `main` renamed).  Whatever the
   programs call to read an input, to assume or to fail is defined here.  The sanitizer's reports are
   taken, too, so that undefined behaviour ends a run like everything else: by a jump back to `go`.
   Between two runs all static memory is put back as it was; what this file must remember is on the heap.

   stdin:  "e PROGRAM RUNS"           enumerate all inputs, depth first, at most RUNS runs
           "r PROGRAM N VALUE..."     one run with these inputs
   stdout: "OUTCOME VALUE..." a run, then "."; outcomes: P passed, F failed, A assumption false or
           exit, L too long, D division by zero, S shift by an amount out of range
           or to the left of a negative value, O signed overflow, U other undefined
           behaviour, X inputs exhausted, C enumeration was cut. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <limits.h>
#include <unistd.h>

#define MOST 64
typedef long long wide;
struct state {
  sigjmp_buf back;
  int enumerate, used, given, running;
  long steps;
  wide value[MOST];
  int choice[MOST], choices[MOST];
  char *image;
  struct { wide low, high; int seen; } range[MOST], now[MOST];
};
static struct state *s;
extern char __data_start[], _end[];
extern int (*const programs[])();
extern const long step_limit;

__attribute__((noreturn)) static void stop(int outcome) { siglongjmp(s->back, outcome); }

static const wide wides[] = {0, 1, -1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -2, -3, -4, -5, -6, -7, -8, 16, 255,
  100, 128, 1000, INT_MAX, INT_MIN, INT_MAX - 1, INT_MIN + 1, 65535, 32768};
#define WIDES ((int)(sizeof wides / sizeof *wides))

static wide input(wide low, wide high) {
  int at = s->used++;
  if (!s->running) return 0;
  if (s->enumerate) {
    if (at >= MOST) stop('X');
    int all = high - low >= 0 && high - low < 256;
    if (at >= s->given) s->choice[at] = 0, s->given = at + 1;
    s->choices[at] = all ? (int)(high - low) + 1 : WIDES;
    return s->value[at] = all ? low + s->choice[at] : wides[s->choice[at]];
  }
  if (at >= s->given) stop('X');
  return s->value[at];
}

#define WEAK __attribute__((weak))
#define INPUT(name, type, low, high) WEAK type __VERIFIER_nondet_##name(void) { return (type)input(low, high); }
INPUT(int, int, INT_MIN, INT_MAX) INPUT(uint, unsigned, INT_MIN, INT_MAX)
INPUT(long, long, INT_MIN, INT_MAX) INPUT(ulong, unsigned long, INT_MIN, INT_MAX)
INPUT(longlong, long long, INT_MIN, INT_MAX) INPUT(ulonglong, unsigned long long, INT_MIN, INT_MAX)
INPUT(short, short, INT_MIN, INT_MAX) INPUT(ushort, unsigned short, INT_MIN, INT_MAX)
INPUT(char, signed char, -128, 127) INPUT(schar, signed char, -128, 127)
INPUT(uchar, unsigned char, 0, 255) INPUT(bool, _Bool, 0, 1) INPUT(_Bool, _Bool, 0, 1)
WEAK int unknown(void) { return (int)input(INT_MIN, INT_MAX); }
WEAK int nondet_int(void) { return (int)input(INT_MIN, INT_MAX); }
WEAK int rand(void) { return (int)(input(INT_MIN, INT_MAX) & INT_MAX); }
WEAK int getchar(void) { return (int)input(-1, 254); }
WEAK void assume(int c) { if (!c) stop('A'); }
WEAK void __VERIFIER_assume(int c) { if (!c) stop('A'); }
WEAK void __VERIFIER_assert(int c) { if (!c) stop('F'); }
WEAK void reach_error(void) { stop('F'); }
WEAK void __VERIFIER_error(void) { stop('F'); }
void __assert_fail(const char *a, const char *f, unsigned l, const char *n) { stop('F'); }
void abort(void) { stop('A'); }
void exit(int status) { if (s && s->running) stop('A'); fflush(stdout); _exit(status); }
void _Exit(int status) { exit(status); }

/* The range of a value over all runs that are defined: "B NUMBER LOW HIGH" after an enumeration. */
void probe(int k, wide v) {
  if (k >= MOST) return;
  if (!s->now[k].seen++) s->now[k].low = s->now[k].high = v;
  if (v < s->now[k].low) s->now[k].low = v;
  if (v > s->now[k].high) s->now[k].high = v;
}
static void merge(int counts) {
  for (int k = 0; k < MOST; k++) {
    if (counts && s->now[k].seen) {
      if (!s->range[k].seen++ || s->now[k].low < s->range[k].low) s->range[k].low = s->now[k].low;
      if (s->range[k].seen == 1 || s->now[k].high > s->range[k].high) s->range[k].high = s->now[k].high;
    }
    s->now[k].seen = 0;
  }
}

void __sanitizer_cov_trace_pc(void) { if (s && s->running && ++s->steps > step_limit) stop('L'); }
static void late(int n) { if (s->running) stop('L'); }
static void trap(int n) { if (s->running) stop('U'); _exit(3); }

#define REPORT(name, outcome) void __ubsan_handle_##name(struct report *r, unsigned long a, unsigned long b) { stop(outcome); }
#define UB(name) REPORT(name, 'U')
struct report { const char *file; unsigned line, column; struct { unsigned short kind, info; } *left, *right; };
REPORT(add_overflow, 'O') REPORT(sub_overflow, 'O') REPORT(mul_overflow, 'O') REPORT(negate_overflow, 'O')
REPORT(divrem_overflow, (unsigned)b ? 'O' : 'D')
#define WIDTH(r) (1ul << (r->left->info >> 1))
REPORT(shift_out_of_bounds, b < WIDTH(r) && !(a >> (WIDTH(r) - 1) & 1) ? 'O' : 'S')
UB(out_of_bounds) UB(type_mismatch_v1) UB(load_invalid_value) UB(vla_bound_not_positive)
UB(nonnull_arg) UB(nonnull_return_v1) UB(pointer_overflow) UB(invalid_builtin) UB(float_cast_overflow)
UB(alignment_assumption) UB(implicit_conversion) UB(function_type_mismatch) UB(nullability_arg)
void __ubsan_handle_builtin_unreachable() { stop('U'); }
void __ubsan_handle_missing_return() { stop('U'); }

static int go(int program) {
  memcpy(__data_start, s->image, (size_t)(_end - __data_start));
  s->used = 0, s->steps = 0;
  struct itimerval soon = {{0, 0}, {0, 300000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_VIRTUAL, &soon, 0);
  int outcome = sigsetjmp(s->back, 1);
  if (!outcome) { s->running = 1; programs[program](1, (char *[]){"program", 0}); outcome = 'P'; }
  s->running = 0;
  setitimer(ITIMER_VIRTUAL, &never, 0);
  return outcome;
}

static void report(int outcome) {
  printf("%c", outcome);
  for (int i = 0; i < s->used && i < s->given; i++) printf(" %lld", s->value[i]);
  printf("\n");
}

int main(void) {
  setvbuf(stdout, 0, _IOFBF, 1 << 16);
  s = calloc(1, sizeof *s);
  size_t size = (size_t)(_end - __data_start);
  s->image = malloc(size);
  signal(SIGVTALRM, late), signal(SIGFPE, trap), signal(SIGILL, trap), signal(SIGTRAP, trap), signal(SIGSEGV, trap);
  memcpy(s->image, __data_start, size);
  char mode;
  int program;
  while (scanf(" %c %d", &mode, &program) == 2) {
    if (mode == 'r') {
      s->enumerate = 0;
      if (scanf("%d", &s->given) != 1 || s->given > MOST) return 2;
      for (int i = 0; i < s->given; i++) if (scanf("%lld", &s->value[i]) != 1) return 2;
      report(go(program));
    } else {
      long runs;
      if (scanf("%ld", &runs) != 1) return 2;
      s->enumerate = 1, s->given = 0;
      memset(s->range, 0, sizeof s->range);
      for (;;) {
        int outcome = go(program);
        report(outcome);
        merge(strchr("PFA", outcome) != 0);
        int last = s->used < MOST ? s->used - 1 : MOST - 1;
        while (last >= 0 && s->choice[last] + 1 >= s->choices[last]) last--;
        if (last < 0) break;
        if (--runs <= 0) { printf("C\n"); break; }
        s->choice[last]++, s->given = last + 1;
      }
      for (int k = 0; k < MOST; k++)
        if (s->range[k].seen) printf("B %d %lld %lld\n", k, s->range[k].low, s->range[k].high);
    }
    printf(".\n");
    fflush(stdout);
  }
  return 0;
}
