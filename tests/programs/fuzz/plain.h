#define REG(o, n)
#define KEEP
#define DROP
#define TICK
#define UNSET
#define D(p) (*(p))
#define F(p, f) ((p)->f)
#define IX(p, k) ((p)[k])
#define DX(p, k) (*((p) + (k)))
#define DPI(p) (*(p)++)
#define DMD(p) (*--(p))
#define PI(p) ((p)++)
#define PD(p) ((p)--)
#define MV(p, k) ((p) += (k))
#define ADD(p, k) ((p) + (k))
#define AD(p, k) (&(p)[k])
#define LT(p, q) ((p) < (q))
#define DF(p, q) ((p) - (q))
#define EQ(p, q) ((p) == (q))
#define OK(p) (p)
#define NEW(t, n) malloc((n) * sizeof(t))
#define ZEROS(t, n) calloc(n, sizeof(t))
#define END(p) free(p)
int unknown(void);
