"""Do all numbers of what stays equal those that were stored? What the comparison sees, on planted values."""

import pytest
from tests.conftest import real_data_folder
from tests.golden import golden
from tests.golden.cases import CASES, Bench

FAST = [name for name, case in CASES.items() if case.fast]
SLOW = [name for name, case in CASES.items() if not case.fast]
KEY = ("case", "good", "en", "de", "0", "", "R@10", "value")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(real_data_folder().resolve(), tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module")
def stored():
    return golden.renamed(golden.read())


@pytest.mark.filterwarnings("ignore::xlingual.DataWarning")
@pytest.mark.parametrize("name", [*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_values_are_those_that_were_stored(name, bench, stored):
    case = CASES[name]
    for folder in case.needs:
        if not (bench.data / folder).is_dir():
            pytest.skip(f"{bench.data / folder} is not there: set XLINGUAL_DATA")
    of_case = {key: value for key, value in stored.items() if key[0] == name}
    assert of_case
    assert golden.differences(of_case, golden.values_of(case, bench)) == []


@pytest.mark.parametrize(
    ("before", "after", "tolerance", "lines"),
    [
        (3.0, 4.0, "exact", 1),
        (0.5, 0.5 + 1e-11, "float", 1),
        (0.5, 0.5 + 1e-14, "float", 0),
        (None, 0.5, "exact", 1),
        ("ridge", "random", "exact", 1),
        (0.5, 0.501, "fitted", 0),
        (0.5, 0.51, "fitted", 1),
        (3.0, 4.0, "logged", 0),
    ],
)
def test_a_difference_is_seen_where_it_is_beyond_the_tolerance(before, after, tolerance, lines):
    differing = golden.differences({KEY: (before, tolerance)}, {KEY: (after, tolerance)})
    assert len(differing) == lines
    assert (golden.differences({KEY: (before, tolerance)}, {}) == []) == (tolerance == "logged")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("case|*|*|*|*|*|R@10|value", "case|*|*|*|*|*|R@10|score", (*KEY[:-1], "score")),
        ("*|good|*|*|*|*|*|*", "drop", None),
    ],
)
def test_keys_are_renamed_or_dropped(tmp_path, old, new, key):
    (tmp_path / "renames.csv").write_text(f"old,new,reason\n{old},{new},simpler\n")
    renamed = golden.renamed({KEY: (0.5, "float")}, tmp_path / "renames.csv")
    assert list(renamed) == ([] if key is None else [key])


def test_a_rename_that_matches_nothing_is_an_error(tmp_path):
    (tmp_path / "renames.csv").write_text("old,new,reason\nnowhere|*|*|*|*|*|*|*,drop,gone\n")
    with pytest.raises(ValueError, match="nothing matches"):
        golden.renamed({KEY: (0.5, "float")}, tmp_path / "renames.csv")
