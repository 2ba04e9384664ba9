"""`doeblin bench verify`: a table of our verdicts beside those of other tools."""

import json

import pytest

from doeblin.cli import main
from doeblin.programs.examples import example
from doeblin.programs.peers import PEERS, sygus_text

EASY = "int main() { int x = unknown(), y = 0; while (y < x) y++; assert(y >= x || y == 0); }"


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main(["bench", "verify", *map(str, arguments)])
    return end.value.code


def test_all_tools_on_an_easy_program(tmp_path, capsys):
    suite = tmp_path / "easy"
    suite.mkdir()
    (suite / "easy.c").write_text(EASY)
    assert run(suite, "--json", "--timeout", "20") == 0
    rows = json.loads(capsys.readouterr().out)["table"]
    assert [row["tool"] for row in rows] == ["doeblin (default)", *PEERS]
    assert {"spacer", "spacer-global", "cvc5"} <= set(PEERS)
    assert all(row["safe"] == 1 and row["undecided"] == 0 for row in rows)


@pytest.mark.thorough  # `test_lemmas.py` of strategies switches one off
def test_sources_of_lemmas_can_be_switched_off(tmp_path, capsys):
    suite = tmp_path / "one"
    suite.mkdir()
    (suite / "tacas06.c").write_text(example("tacas06"))
    used = []
    for more in ((), ("--without", "equations", "--without", "facets")):
        assert run(suite, "--no-peers", "--json", "--timeout", "30", *more) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["without"] == list(more[1::2]) and answer["table"][0]["safe"] == 1
        used.append(answer["sources"]["tacas06.c"])
    assert used[0] == ["equations"] and "equations" not in used[1]
    assert run(suite, "--no-peers", "--without", "faces") == 3
    assert (
        "unknown source of lemmas 'faces': use one of hints, equations" in capsys.readouterr().err
    )


def test_verdicts_that_differ_are_told(tmp_path, capsys):
    suite = tmp_path / "mixed"
    suite.mkdir()
    for name in ("fig1", "off_by_one"):
        (suite / f"{name}.c").write_text(example(name))
    (tmp_path / "expected.tsv").write_text(
        "suite\tfile\tverdict\nmixed\tfig1.c\tunsafe\nmixed\toff_by_one.c\tunsafe\n"
    )
    assert run(suite, "--no-peers") == 4
    out = capsys.readouterr().out
    assert "2 programs" in out and "fig1.c: safe, expected unsafe" in out
    for folder in (tmp_path / "nowhere", ""):
        assert run(folder, "--no-peers") == 3


@pytest.mark.thorough  # as of batches in `test_fleet.py`
def test_files_of_one_name_in_two_folders_are_two(tmp_path, capsys):
    for folder, bound in (("a", 3), ("b", 2)):
        (tmp_path / "suite" / folder).mkdir(parents=True)
        text = f"int main() {{ int x = 3; assert(x <= {bound}); }}"
        (tmp_path / "suite" / folder / "same.c").write_text(text)
    assert run(tmp_path / "suite", "--no-peers", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer["files"]["doeblin (default)"]) == {"a/same.c", "b/same.c"}
    assert (answer["table"][0]["safe"], answer["table"][0]["unsafe"]) == (1, 1)


def test_predicates_are_applied_to_distinct_variables():
    """The form in which cvc5 recognises a transition system."""
    from doeblin.programs import parse_program
    from doeblin.programs.frontends.smt._sexpr import Group, parse

    system = parse_program(example("nested")).system
    commands = parse(sygus_text(system), "sygus")
    declared = {str(c[1]) for c in commands if isinstance(c, Group) and c[0] == "declare-var"}
    found = 0

    def visit(node):
        nonlocal found
        if isinstance(node, Group):
            if node and str(node[0]).startswith("inv"):
                arguments = [str(item) for item in node[1:]]
                assert len(set(arguments)) == len(arguments) and set(arguments) <= declared
                found += 1
            for item in node:
                visit(item)

    for command in commands:
        if isinstance(command, Group) and command[0] == "constraint":
            visit(command)
    assert found == sum((c.source is not None) + (c.target is not None) for c in system.clauses)
