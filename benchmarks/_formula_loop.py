"""A plain C loop that does what the Metropolis kernel does, compiled on the spot."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from doeblin.formulas import Chain, Task
from doeblin.formulas.engine._bits import GAMMA

# The same steps as the kernel, with the same random numbers, at a fixed number of words W. The
# compiler sees everything that numba's does: the width as a constant, and the machine it is on.
SOURCE = r"""
#include <stdint.h>
typedef uint64_t u64; typedef int64_t i64;
static inline u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}
i64 run(const u64 *restrict rows, const int32_t *restrict near, i64 degree, i64 num_atoms,
        const u64 *restrict labels, const u64 *restrict accept, i64 accept_size, u64 single,
        i64 n, i64 m, u64 s, i64 count, i64 *restrict codes,
        u64 *restrict atoms, u64 *restrict others, u64 *restrict disjuncts, u64 *restrict rest) {
  i64 cost = 0;
  for (i64 q = 0; q < n * m; q++)
    for (int w = 0; w < W; w++) atoms[q * W + w] = rows[codes[q] * W + w];
  for (i64 i = 0; i < n; i++)
    for (int w = 0; w < W; w++) {
      u64 v = ~0ull;
      for (i64 j = 0; j < m; j++) v &= atoms[(i * m + j) * W + w];
      disjuncts[i * W + w] = v;
    }
  for (i64 q = 0; q < n * m; q++)
    for (int w = 0; w < W; w++) {
      u64 v = ~0ull;
      for (i64 e = q / m * m; e < q / m * m + m; e++) if (e != q) v &= atoms[e * W + w];
      others[q * W + w] = v;
    }
  for (i64 i = 0; i < n; i++)
    for (int w = 0; w < W; w++) {
      u64 v = 0;
      for (i64 e = 0; e < n; e++) if (e != i) v |= disjuncts[e * W + w];
      rest[i * W + w] = v;
    }
  for (int w = 0; w < W; w++) cost += __builtin_popcountll((disjuncts[w] | rest[w]) ^ labels[w]);
  for (i64 t = 0; t < count && cost > 0; t++) {
    s += 0x9E3779B97F4A7C15ull; u64 first = mix(s);
    s += 0x9E3779B97F4A7C15ull; u64 second = mix(s);
    i64 q = ((second & 0xffffffffull) * (u64)(n * m)) >> 32, i = q / m;
    i64 c = ((second >> 32) * (u64)num_atoms) >> 32;
    i64 edited = near[codes[q] * degree + (i64)(((second >> 32) * (u64)degree) >> 32)];
    if ((first >> 32) < single) c = edited;
    const u64 *row = rows + c * W; const u64 *o = others + q * W; const u64 *r = rest + i * W;
    i64 fresh = 0;
    for (int w = 0; w < W; w++) fresh += __builtin_popcountll(((row[w] & o[w]) | r[w]) ^ labels[w]);
    i64 worse = fresh - cost;
    if (worse <= 0 || (worse < accept_size && (first & 0xffffffffull) < accept[worse])) {
      cost = fresh; codes[q] = c;
      for (int w = 0; w < W; w++) {
        atoms[q * W + w] = row[w]; disjuncts[i * W + w] = row[w] & o[w];
      }
      for (i64 p = i * m; p < i * m + m; p++)
        if (p != q)
          for (int w = 0; w < W; w++) {
            u64 v = ~0ull;
            for (i64 e = i * m; e < i * m + m; e++) if (e != p) v &= atoms[e * W + w];
            others[p * W + w] = v;
          }
      for (i64 k = 0; k < n; k++)
        if (k != i)
          for (int w = 0; w < W; w++) {
            u64 v = 0;
            for (i64 e = 0; e < n; e++) if (e != k) v |= disjuncts[e * W + w];
            rest[k * W + w] = v;
          }
    }
  }
  return cost;
}
"""


class CLoop:
    """The compiled loop for one width; `available()` says whether there is a compiler."""

    def __init__(self, words: int):
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        assert compiler is not None
        self._folder = tempfile.TemporaryDirectory()
        source = Path(self._folder.name) / "loop.c"
        library = source.with_suffix(".so")
        source.write_text(SOURCE)
        subprocess.run(
            [compiler, "-O3", "-march=native", "-shared", "-fPIC", f"-DW={words}",
             str(source), "-o", str(library)],
            check=True,
        )  # fmt: skip
        self._run = ctypes.CDLL(str(library)).run
        self._run.restype = ctypes.c_int64

    @staticmethod
    def available() -> bool:
        return any(shutil.which(name) for name in ("cc", "gcc", "clang"))

    def run(self, task: Task, chain: Chain, seed: int, codes: np.ndarray, count: int) -> np.ndarray:
        """`count` steps from `codes`, as the chain with this seed takes them; the last state."""
        arrays = task.arrays(chain.method)
        rows, labels, width = arrays.rows, arrays.labels, arrays.width
        neighbours = task.near(arrays)
        assert rows is not None and neighbours is not None
        accept = chain.program().accept[1]
        n, m = chain.template
        codes = np.array(codes, dtype=np.int64).reshape(-1)
        atoms, others = (np.zeros((n * m, len(width)), np.uint64) for _ in range(2))
        disjuncts, rest = (np.zeros((n, len(width)), np.uint64) for _ in range(2))
        single = int(chain.method.stages[0].single * 2**32)
        # The chain draws twice before its first step: the stage after the start, and its length.
        state = (seed + 2 * int(GAMMA)) & 0xFFFFFFFFFFFFFFFF
        pointer, integer, word = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64
        self._run(
            pointer(rows.ctypes.data), pointer(neighbours.ctypes.data),
            integer(neighbours.shape[1]), integer(len(rows)), pointer(labels.ctypes.data),
            pointer(accept.ctypes.data), integer(len(accept)), word(single), integer(n), integer(m),
            word(state), integer(count), pointer(codes.ctypes.data), pointer(atoms.ctypes.data),
            pointer(others.ctypes.data), pointer(disjuncts.ctypes.data), pointer(rest.ctypes.data),
        )  # fmt: skip
        return codes.reshape(n, m)
