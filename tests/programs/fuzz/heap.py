"""Random programs that allocate and free memory, and what gcc says of them.

`python -m tests.programs.fuzz.heap FIRST LAST [LIMIT]` holds so many of them against `verify`. They
are those of `pointers.py` with allocations, each of which fails in one run and not in another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .pointers import Drawn, disagreements
from .seeds import by_seeds


class Heaped(Drawn):
    """Pointers to what is allocated among the others."""

    ways = 32

    def helpers(self) -> list[str]:
        t, k = self.kind, self.seed
        return [
            *super().helpers(),
            f"static {t} *make{k}(int m) {{ {t} *h = NEW({t}, m);"
            " if (OK(h)) for (int j = 0; j < m; j++) IX(h, j) = j; return h; }",
            f"static void drop{k}({t} *h) {{ END(h); }}",
            f"static int turn{k}(int v, int w) {{ {t} *h = ZEROS({t}, 1); if (!OK(h)) return 0;"
            " if (v == w) END(h); v += D(h) + 1; D(h) = v; END(h); return v; }",
        ]

    @property
    def careful(self) -> bool:
        """Half of the programs know what they have, and forget it rarely."""
        return self.seed % 4 > 1

    def pointer(self, name: str) -> str:
        self.has: dict[str, tuple[int, str] | None]  # the number and size of what a pointer has
        self.has, self.ended, self.made = dict.fromkeys("hk"), set(), 0
        if self.careful:
            self.pointers.append(name)
            return "" if len(self.pointers) > 1 else f"{self.kind} *h = 0, *k = 0;"
        if self.rng.random() < 0.3:
            return super().pointer(name)
        self.pointers.append(name)
        return f"{self.kind} *{name} = {self.memory()};{self.checked(name)}"

    def lawful(self) -> str:
        """What can be done with a pointer that is null, or to what is there; or with any other."""
        rng, t, k = self.rng, self.kind, self.seed
        h, other = rng.sample("hk", 2)
        known = self.has[h]
        there = known is not None and known[0] not in self.ended
        if there == (rng.random() < 0.05) or known is None:
            if rng.random() < 0.2 and not there:
                self.has[h] = None
                return f"{h} = 0; END({h}); if (OK({h})) s += D({h});"
            self.made += 1
            size = rng.choice(("1", "2", "3", "n", "n + 1"))
            self.has[h] = (self.made, size)
            return f"{h} = {rng.choice((f'ZEROS({t}, {size})', f'make{k}({size})'))};" + (
                "" if rng.random() < 0.05 else f" if (!OK({h})) return 0;"
            )
        size = known[1]
        last = rng.choice(("0", "0", f"{size} - 1", size if rng.random() < 0.1 else "0"))
        pick = rng.random()
        if pick < 0.2:
            self.ended.add(known[0])
            return rng.choice((f"END({h});", f"drop{k}({h});"))
        if pick < 0.35:
            self.has[other] = known
            return f"{other} = {h};"
        return rng.choice((
            f"IX({h}, {last}) = {rng.choice(('x', '3', 'y', 's'))};", f"s += IX({h}, {last});",
            f"for (i = 0; i < {size}; i++) {{ TICK IX({h}, i) = i; }}", f"s += inc{k}({h});",
            f"swap{k}({h}, &y);", f"s += sum{k}({h}, {size});", f"copy{k}({h}, a, 1);",
            f"if (x > 0) {{ IX({h}, {last}) += 1; }}", f"D(ADD({h}, {last})) = 2;",
            f"for (i = 0; i < 2; i++) s += turn{k}(i, x);",
        ))  # fmt: skip

    def checked(self, name: str) -> str:
        return f" if (!OK({name})) return 0;" if self.rng.random() < 0.4 else ""

    def memory(self) -> str:
        rng, t, k = self.rng, self.kind, self.seed
        size = rng.choice(("1", "2", "2", "3", "n", "n", "n + 1", "x"))
        return rng.choice((f"ZEROS({t}, {size})", f"ZEROS({t}, {size})", f"make{k}({size})"))

    def statement(self, depth: int) -> str:
        rng, t, k = self.rng, self.kind, self.seed
        if self.careful:
            return f"{self.lawful()} {self.lawful()}"
        if rng.random() < 0.55:
            return super().statement(depth)
        p, q = (rng.choice(self.pointers) for _ in range(2))
        top = (
            f"{p} = {self.memory()};{self.checked(p)}",
            f"{p} = {self.memory()}; if (!OK({p})) return 0;",
            f"{p} = NEW({t}, 2); if (OK({p})) {{ IX({p}, 0) = 1; IX({p}, 1) = x; }}",
            f"{p} = x > 0 ? ZEROS({t}, 1) : 0; if (OK({p})) {{ {self.statement(0)} }}",
            f"for (i = 0; i < 2; i++) {{ {t} *m = ZEROS({t}, 2); if (OK(m)) {{ IX(m, 1) = i;"
            f" s += IX(m, 1); {rng.choice(('', 'END(m);', 'END(m);', 'PI(m); END(m);'))} }} }}",
        )
        structs = (
            f"o = ZEROS(struct s{k}, {rng.choice('12')});",
            f"o = ZEROS(struct s{k}, 1); if (!OK(o)) return 0; F(o, g) = 3; v = D(o);",
            "END(o);",
            "END(o); o = &v;",
        )
        anywhere = (
            f"END({p});",
            f"END({p}); {p} = 0;",
            f"END({p}); {p} = {rng.choice(list(self.arrays))};",
            f"if (x > 0) {{ END({p}); {p} = 0; }}",
            f"if (!EQ({p}, {q})) {{ END({p}); {p} = {q}; }}",
            f"drop{k}({p});",
            f"END(ADD({p}, {rng.choice(('0', '0', '1'))}));",
            f"{p} = {q}; if (OK({p})) s += D({p});",
            f"if (OK({p})) {{ D({p}) += 1; s = D({p}); }}",
        )
        own = structs if self.structs and rng.random() < 0.4 else anywhere
        return rng.choice(top if depth == 2 and rng.random() < 0.5 else own)


def disagree(seeds: Iterable[int], timeout: float = 2.0) -> tuple[list[str], Counter]:
    return disagreements(seeds, timeout, Heaped)


if __name__ == "__main__":
    by_seeds(disagree)
