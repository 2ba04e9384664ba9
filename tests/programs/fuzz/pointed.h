/* For the referee: every pointer that is followed or moved is held against the objects that were
   declared. For `verify` the same names are plain C, in `plain.h`. */
#pragma once
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
extern jmp_buf failed;
extern struct object { const char *start; long size; int heap, dead; } objects[];
extern int object_count;
extern int failing, allocations; /* which allocations fail, by bits, and how many there were */
extern long ticks;
extern int nowhere[4];
int unknown(void);
void probe(int, long long);
static inline void fail_here(void) { longjmp(failed, 1); }
static inline struct object *owner(const void *p) {
  for (int i = object_count; i-- > 0;) {
    long at = (const char *)p - objects[i].start;
    if (p && at >= 0 && at <= objects[i].size) {
      if (objects[i].dead) fail_here();
      return &objects[i];
    }
  }
  fail_here();
  return 0;
}
static inline void *checked(const void *p, long k, long size, long past) {
  struct object *o = owner(p);
  long at = (const char *)p - o->start + k * size;
  if (at < 0 || at + (past ? 0 : size) > o->size) fail_here();
  return (char *)o->start + at;
}
static inline void *stepped(void *variable, long k, long size, int old) {
  char *before = *(char **)variable, *after = checked(before, k, size, 1);
  *(char **)variable = after;
  return old ? before : after;
}
static inline long apart(const void *p, const void *q, long size) {
  if (owner(p) != owner(q)) fail_here();
  return ((const char *)p - (const char *)q) / size;
}
static inline int used(const void *p) {
  if (p == nowhere) fail_here();
  for (int i = 0; p && i < object_count; i++) {
    long at = (const char *)p - objects[i].start;
    if (objects[i].dead && at >= 0 && at <= objects[i].size) fail_here();
  }
  return p != 0;
}
/* What is freed stays where it is, and is dead: no address comes twice. */
static inline void *fresh(long number, long size, int zeros) {
  if (number < 0) return 0;
  if (allocations == 5) longjmp(failed, 2);
  if (failing >> allocations++ & 1) return 0;
  char *made = malloc(number * size + 16);
  memset(made, zeros ? 0 : 77, number * size);
  objects[object_count++] = (struct object){made, number * size, 1, 0};
  return made;
}
static inline void ended(const void *p) {
  if (!p) return;
  if (p == nowhere) fail_here();
  struct object *o = owner(p);
  if (!o->heap || o->start != p) fail_here();
  o->dead = 1;
}
static inline int same(const void *p, const void *q) {
  used(p), used(q);
  return p == q;
}
#define TO(p) typeof(&*(p))
#define S(p) sizeof *(p)
#define REG(o, n) (objects[object_count++] = (struct object){(const char *)(o), (n) * sizeof *(o), 0, 0});
#define KEEP int kept_count = object_count;
#define DROP object_count = kept_count;
#define TICK if (++ticks > 2000) longjmp(failed, 2);
#define UNSET = nowhere
#define D(p) (*(TO(p))checked((p), 0, S(p), 0))
#define F(p, f) (((TO(p))checked((p), 0, S(p), 0))->f)
#define IX(p, k) (*(TO(p))checked((p), (k), S(p), 0))
#define DX(p, k) IX(p, k)
#define DPI(p) (*(TO(p))checked(stepped(&(p), 1, S(p), 1), 0, S(p), 0))
#define DMD(p) (*(TO(p))checked(stepped(&(p), -1, S(p), 0), 0, S(p), 0))
#define PI(p) ((TO(p))stepped(&(p), 1, S(p), 1))
#define PD(p) ((TO(p))stepped(&(p), -1, S(p), 1))
#define MV(p, k) ((TO(p))stepped(&(p), (k), S(p), 0))
#define ADD(p, k) ((TO(p))checked((p), (k), S(p), 1))
#define AD(p, k) ADD(p, k)
#define LT(p, q) (apart((p), (q), S(p)) < 0)
#define DF(p, q) apart((p), (q), S(p))
#define EQ(p, q) same((p), (q))
#define OK(p) used(p)
#define NEW(t, n) fresh((n), sizeof(t), 0)
#define ZEROS(t, n) fresh((n), sizeof(t), 1)
#define END(p) ended(p)
