"""A leaderboard's numbers: what may be one column, ranks, missing cells, means, and results of MTEB."""

import json
from itertools import combinations
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import to_builtins
from scipy import stats

from xlingual.comparison.compare import compare
from xlingual.comparison.leaderboard import MANY_CLUSTERS
from xlingual.errors import InputError
from xlingual.results import Results
from xlingual.results.leaderboard import Leaderboard
from xlingual.workflows.leaderboard import leaderboard

_BESIDE = run_path(str(Path(__file__).parent / "conftest.py"))
Folders, Given = _BESIDE["Folders"], _BESIDE["Given"]


def cells(found):
    return {cell.encoder: cell for cell in found.cells}


@pytest.fixture
def three(folders):
    return [folders.given("good", 0.1), folders.given("mid", 0.6), folders.given("bad", 30.0)]


def test_two_tasks_are_two_columns_and_missing_cells_stay_empty(folders, three):
    board = leaderboard([folders.xlr("x", three), folders.bkr("b", three[:2])])
    assert [one.task for one in board.columns] == ["backretrieval", "crosslingual-retrieval"]
    first = cells(board.columns[0])
    assert first["bad"].value is None and first["bad"].note == "not evaluated here"
    assert first["bad"].rank_low is None and not first["bad"].top
    assert not board.means, "no mean over different measures"
    assert board.no_mean
    assert cells(board.columns[1])["bad"].result == "x"


def test_a_mean_is_over_one_measure(folders, three):
    """Two columns of XLR and one of Backretrieval: means of XLR alone, of encoders with both."""
    other = folders.xlr("y", three[:2], seed=1, sample=40)
    board = leaderboard([folders.xlr("x", three), other, folders.bkr("b", three)])
    means = {(mean.encoder, mean.measure): mean.value for mean in board.means}
    assert set(means) == {("good", "XLR R@1"), ("mid", "XLR R@1")}
    values = [cells(one)["good"].value for one in board.columns if one.task == "crosslingual-retrieval"]
    assert means["good", "XLR R@1"] == pytest.approx(np.mean(values))


def test_unequal_conditions_are_never_in_one_column(folders, three):
    one = folders.xlr("one", three[:2])
    other = folders.xlr("other", three[2:], seed=1, sample=40)
    board = leaderboard([one, other])
    assert [len(found.known) for found in board.columns] == [2, 1]
    assert all("sample" in found.name for found in board.columns), "the names say in what they differ"
    fewer = leaderboard([one, folders.xlr("fewer", three[2:], pairs=["en-de"])])
    assert len(fewer.columns) == 2, "a mean over other language pairs is another column"
    by_pair = leaderboard([one, folders.path / "fewer"], per_pair=True)
    assert [len(found.known) for found in by_pair.columns] == [3, 2]


def test_encoders_of_two_folders_are_ranked_together_where_conditions_are_equal(folders, three):
    apart = leaderboard([folders.xlr("a", three[:1]), folders.xlr("b", three[1:])])
    together = leaderboard(folders.xlr("all", three))
    (one,), (other,) = apart.columns, together.columns
    keep = ("value", "rank_low", "rank_high", "top")
    for name, cell in cells(one).items():
        assert [getattr(cell, key) for key in keep] == [getattr(cells(other)[name], key) for key in keep]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(3)))
def test_the_order_of_the_results_changes_no_number(order, made_once):
    found = to_builtins(leaderboard([made_once[place] for place in order]))
    plain = to_builtins(leaderboard(made_once))
    for key in ("timings", "run", "request"):
        found.pop(key, None), plain.pop(key, None)
    assert found == plain


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    made = Folders(tmp_path_factory.mktemp("made"))
    known = [Given("good", 0.1), Given("mid", 0.6), Given("bad", 30.0)]
    return [
        made.xlr("a", known[:2]),
        made.xlr("b", [known[2], Given("mid", 0.6)]),
        made.bkr("c", known),
    ]


def test_ranks_are_those_of_compare(folders):
    encoders = [folders.given(f"e{i}", noise, i) for i, noise in enumerate([0.1, 0.5, 0.6, 0.7, 1.5, 9.0])]
    folder = folders.xlr("x", encoders)
    ours = cells(leaderboard(folder, measures=["RR"]).columns[0])
    theirs = compare(folder, measures=["RR"]).boards[0].rows
    assert {row.encoder: (row.rank_low, row.rank_high, row.top) for row in theirs} == {
        name: (cell.rank_low, cell.rank_high, cell.top) for name, cell in ours.items()
    }


def test_ranks_are_those_of_a_plain_t_test_with_holm(folders):
    """The oracle: clusters' sums, Student's t of all pairs, Holm by its definition."""
    noises = [0.1, 0.2, 0.9, 1.0, 3.0, 30.0]
    folder = folders.xlr("x", [folders.given(f"e{i}", noise, i) for i, noise in enumerate(noises)])
    found = cells(leaderboard(folder, measures=["RR"]).columns[0])
    table = Results.read(folder).per_query.to_pandas()
    table = table[table.measure == "RR"]
    means = table.groupby(["encoder", "cluster"], observed=True)["value"].mean().unstack("encoder")
    assert len(means) >= MANY_CLUSTERS
    pairs = list(combinations(means.columns, 2))
    p = {(a, b): stats.ttest_rel(means[a], means[b]).pvalue for a, b in pairs}
    significant, left = set(), len(pairs)
    for pair in sorted(p, key=p.get):
        if p[pair] * left > 0.05:
            break
        significant.add(pair)
        left -= 1
    for name in means.columns:
        wins = [a if means[a].mean() > means[b].mean() else b for a, b in significant if name in (a, b)]
        low, high = 1 + sum(w != name for w in wins), len(noises) - sum(w == name for w in wins)
        assert (found[name].rank_low, found[name].rank_high) == (low, high)


def test_equal_encoders_share_the_top(folders):
    board = leaderboard(
        folders.xlr("x", [folders.given("a", 0.3), folders.given("b", 0.3), folders.given("c", 20)])
    )
    assert {cell.encoder for cell in board.columns[0].top} == {"a", "b"}


def test_a_measure_without_values_for_each_query_has_no_ranks(folders, three):
    (found,) = leaderboard(folders.corr("c", three)).columns
    assert not found.top and all(cell.rank_low is None for cell in found.cells) and len(found.known) == 3


def test_one_name_with_two_identities_in_one_column_is_two_rows(folders):
    one, other = folders.given("same", 0.1), folders.given("same", 30.0)
    other.identity = "given:other"
    board = leaderboard([folders.xlr("new", [one]), folders.xlr("old", [other])])
    assert board.encoders == ["same (new)", "same (old)"]


def test_measures_are_chosen(folders, three):
    folder = folders.xlr("x", three)
    assert [one.measure for one in leaderboard(folder).columns] == ["R@1"]
    assert [one.measure for one in leaderboard(folder, measures=["RR", "R@1"]).columns] == ["R@1", "RR"]
    with pytest.raises(InputError, match=r"no result has the measure 'R@3'.*Measures: R@1, RR"):
        leaderboard(folder, measures=["R@3"])


def test_a_folder_of_folders_and_equal_names(folders, three):
    folders.xlr("one/xlr", three[:2])
    folders.xlr("two/xlr", three[2:])
    board = leaderboard(folders.path)
    assert [one.name for one in board.results] == ["one-xlr", "two-xlr"] and len(board.columns) == 1


def test_what_holds_no_results_is_named(tmp_path):
    with pytest.raises(InputError, match="is no folder"):
        leaderboard(tmp_path / "nosuch")
    with pytest.raises(InputError, match="holds no results"):
        leaderboard(tmp_path)


def test_written_and_read_again(folders, three, tmp_path):
    board = leaderboard([folders.xlr("x", three)], out=tmp_path / "site")
    read = Leaderboard.read(tmp_path / "site")
    assert read == board and read.request["command"] == "leaderboard"
    assert sorted(path.name for path in (tmp_path / "site").rglob("*.*")) == [
        "index.html", "leaderboard.json", "x.html",
    ]  # fmt: skip
    content = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    content["columns"][0]["cells"].pop()
    (tmp_path / "site" / "leaderboard.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="one cell for each encoder"):
        Leaderboard.read(tmp_path / "site")
