"""Programs with small limits in place of large ones."""

from doeblin.linear import EQ, LE, Atom
from doeblin.programs import parse_program
from doeblin.programs.learner import with_small_limits
from doeblin.programs.system import Interpreter

TEXT = """int main() {
  int i = 0, k = 7;
  while (i < 100000) i++;
  assert(i != 99999 && i != 100000 && k == 7);
}"""


def test_small_numbers_stand_for_large_limits_and_those_beside_them():
    graph = parse_program(TEXT).graph
    assert graph is not None
    small = with_small_limits(graph, (7, 100000, 100001))
    assert small is not None and with_small_limits(graph, (7,)) is None
    run = Interpreter(small.graph).run(lambda havoc: 0)
    assert run.outcome == "failed" and run.blocks < 200
    one, next_ = small.limits[1:]
    assert next_ == one + 1 and one < 60 and small.limits[0] == 7
    assert small.small[99999] == one - 1 and small.large[next_] == 100001

    def enlarged(*atoms: Atom) -> list[int]:
        (cube,) = small.enlarged((atoms,))
        return [atom.constant for atom in cube]

    up, down = (1, 0), (-1, 0)
    assert enlarged(Atom(up, LE, one - 1), Atom(down, LE, -one)) == [99999, -100000]
    assert enlarged(Atom(up, EQ, 7), Atom(up, EQ, one, 60)) == [7, one]
