"""Mutants are killed by tests that look at results, and by no others; the tree is not touched."""

import ast
from pathlib import Path

import pytest
from tests import mutate

TOY = '''"""A docstring with 1 number."""

LIMIT = 7  # speed


def clip(value: int, most: int = 3) -> int:
    """Clip to 1 number."""
    if most < 0:
        raise ValueError("most is below 0")
    return most if value > most and most != 5 else value


def total(values):
    result = 0
    for value in values:
        result += value
    return result
'''
GOOD = """
import pytest
from toy import clip, total

def test_toy():
    assert [clip(v, 4) for v in (3, 4, 5)] == [3, 4, 4] and clip(9) == 3 and clip(9, 5) == 9
    assert [clip(1, 0), clip(0, 1)] == [0, 0] and clip(8, 6) == 6 and clip(5, 4) == 4
    for most in (-1, -2):
        with pytest.raises(ValueError):
            clip(1, most)
    assert total([]) == 0 and total([2, 3]) == 5
"""


def tried(tmp_path, test, *options):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "toy.py").write_text(TOY)
    (tmp_path / "test_toy.py").write_text(test)
    common = ["--root", str(tmp_path), "--files", "src/*.py", "--tests", "test_toy.py", "--number", "6"]
    status = mutate.main([*common, *options])
    assert (tmp_path / "src" / "toy.py").read_text() == TOY
    return status


def test_a_good_test_kills_and_an_empty_one_does_not(tmp_path, capsys):
    (tmp_path / "good").mkdir(), (tmp_path / "empty").mkdir()
    assert tried(tmp_path / "good", GOOD, "--least", "5") == 0
    assert tried(tmp_path / "empty", "def test_nothing(): pass", "--least", "1") == 1
    assert "0 of 6 mutants killed" in capsys.readouterr().out


def test_mutants_are_programs_and_leave_out_words_types_and_speed():
    mutants = mutate.mutants_of(Path("toy.py"), TOY.encode())
    assert all(ast.parse(mutant.apply(TOY.encode())) for mutant in mutants)
    assert {mutant.line for mutant in mutants} == {6, 8, 10, 14, 16, 17}


@pytest.mark.parametrize(("before", "after"), [("x and y", "(x or y)"), ("searchsorted(a, b)", "")])
def test_forms(before, after):
    mutants = mutate.mutants_of(Path("toy.py"), before.encode())
    assert [mutant.new for mutant in mutants][: bool(after)] == [after][: bool(after)]
