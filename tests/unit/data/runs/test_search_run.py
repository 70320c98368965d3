"""Runs are read from the files that search systems and evaluation programs write."""

import json
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from xlingual.data.runs import SearchRun
from xlingual.data.runs.files import RunLines
from xlingual.errors import DataWarning, InputError

# query b has a tie at its best score; its lines are in no order
RESULTS = {"b": {"d3": 2.0, "d1": 0.5, "d2": 2.0}, "a": {"d9": -1.0}}
TREC = "b Q0 d1 3 0.5 t\na Q0 d9 1 -1.0 t\nb Q0 d3 1 2.0 t\nb Q0 d2 2 2.0 t\n"


def as_lists(run):
    """Return {query: [the ids of each place]}."""
    found = {name: [] for name in run.queries}
    for query, candidate, level in zip(run.query, run.candidate, run.level, strict=True):
        own = found[run.queries[query]]
        if level == len(own):
            own.append(set())
        own[level].add(run.candidates[candidate])
    return found


WANTED = {"a": [{"d9"}], "b": [{"d2", "d3"}, {"d1"}]}


def write(path, text=TREC):
    path.write_text(text)
    return path


def test_mappings_and_objects_with_to_dict():
    class Ranx:
        def to_dict(self):
            return RESULTS

    for results in (RESULTS, Ranx(), SearchRun.of(RESULTS)):
        assert as_lists(SearchRun.of(results)) == WANTED
    assert as_lists(SearchRun.of({"a": ["x", "y"]})) == {"a": [{"x"}, {"y"}]}


def test_the_digest_has_no_order_of_lines_and_no_format(tmp_path):
    lines = TREC.splitlines(keepends=True)
    runs = [
        SearchRun.of(RESULTS),
        SearchRun.of({q: {d: 2 * s for d, s in o.items()} for q, o in RESULTS.items()}),
    ]
    for number, order in enumerate(permutations(lines)):
        (tmp_path / f"{number}.trec").write_text("".join(order))
        runs.append(SearchRun.read(tmp_path / f"{number}.trec"))
    assert len({run.digest for run in runs}) == 1
    others = [
        {"b": {"d3": 2.0, "d1": 2.0, "d2": 0.5}, "a": {"d9": -1.0}},  # another order
        {"a": {"d3": 2.0, "d1": 0.5, "d2": 2.0}, "b": {"d9": -1.0}},  # of other queries
        {"b": {"d3": 2.0, "d1": 0.5, "d2": 1.0}, "a": {"d9": -1.0}},  # without the tie
    ]
    assert len({run.digest for run in [runs[0], *map(SearchRun.of, others)]}) == 4
    swapped = SearchRun.of({"a": {"x": 2.0, "y": 1.0}}), SearchRun.of({"a": {"x": 3.0, "y": 1.0}})
    assert swapped[0].digest == swapped[1].digest


def test_the_order_of_trec_has_scores_of_its_own():
    run = SearchRun.of({"q": {"a": 1.0000000001, "b": 1.0, "c": 0.5}}).in_trec_order()
    assert as_lists(run) == {"q": [{"b"}, {"a"}, {"c"}]} and run.score.tolist() == [1.0, 1.0, 0.5]
    assert run.digest != SearchRun.of({"q": {"a": 1.1, "b": 1.0, "c": 0.5}}).in_trec_order().digest


def test_runs_of_ranks_have_no_scores(tmp_path):
    path = write(tmp_path / "r.trec")
    assert SearchRun.read(path).score is not None and SearchRun.read(path, order="rank").score is None
    assert SearchRun.of({"a": ["x", "y"]}).score is None
    mixed = SearchRun.of({"a": ["x", "y"], "b": {"y": 0.5, "x": 2.0, "z": 2.0}})
    assert mixed.score is None
    assert as_lists(mixed) == {"a": [{"x"}, {"y"}], "b": [{"x", "z"}, {"y"}]}
    assert as_lists(mixed.in_trec_order()) == {"a": [{"x"}, {"y"}], "b": [{"z"}, {"x"}, {"y"}]}


def test_ranks_alone_and_ranks_that_are_asked_for(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"qid": 1, "docid": 7, "rank": 2}\n{"qid": 1, "docid": 8, "rank": 1}\n')
    assert as_lists(SearchRun.read(path)) == {"1": [{"8"}, {"7"}]}
    path = write(tmp_path / "r.trec")
    assert as_lists(SearchRun.read(path, order="rank"))["b"] == [{"d3"}, {"d2"}, {"d1"}]
    with pytest.raises(InputError, match="order=rank"):
        SearchRun.read(write(tmp_path / "r.json", json.dumps(RESULTS)), order="rank")


def test_scores_that_contradict_ranks_are_said(tmp_path):
    path = tmp_path / "r.trec"
    path.write_text("q Q0 a 1 0.1 t\nq Q0 b 2 0.9 t\nr Q0 a 1 2 t\nr Q0 b 2 2 t\n")
    with pytest.warns(DataWarning, match="ranks in 1 of 2 queries") as said:
        run = SearchRun.read(path)
    assert as_lists(run) == {"q": [{"b"}, {"a"}], "r": [{"a", "b"}]}
    assert len(said) == 1


def test_repeated_candidates_count_once(tmp_path):
    path = tmp_path / "r.trec"
    path.write_text("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")
    with pytest.warns(DataWarning, match="1 lines repeat"):
        assert as_lists(SearchRun.read(path)) == {"q": [{"a"}, {"b"}]}


def test_a_list_is_as_long_as_its_lines():
    run = SearchRun.of({"a": {"x": 1.0}, "b": {"x": 1.0, "y": 0.5, "z": 0.1}})
    np.testing.assert_array_equal(run.lengths, [1, 3])
    assert run.depth == 3


def of_rows(rows):
    columns = map(pa.array, zip(*rows, strict=True))
    query, candidate, score = columns
    return SearchRun.of_lines("run", RunLines(query, candidate, score.to_numpy()))


def test_a_list_whose_passages_are_of_few_documents_has_not_ended():
    passages = {"a": ["d1", "d1", "d2", "d3"], "b": ["d1", "d2", "d3", "d4"], "c": ["d1"]}
    rows = [(q, d, 9.0 - i) for q, own in passages.items() for i, d in enumerate(own)]
    with pytest.warns(DataWarning, match="repeat a candidate"):
        run = of_rows(rows)
    assert run.lengths.tolist() == [3, 4, 1] and run.ended.tolist() == [False, False, True]
    with pytest.warns(DataWarning, match="repeat a candidate"):
        other = of_rows([*rows, ("c", "d1", 1.0), ("c", "d1", 0.5), ("c", "d1", 0.1)])
    assert not other.ended.any() and other.digest != run.digest  # whether a list has ended is part of it


def test_lists_of_one_length_beside_longer_ones_are_odd():
    cut = {f"q{i}": {f"d{j}": -j for j in range(10)} for i in range(3)}
    longer = {"q9": {f"d{j}": -j for j in range(12)}}
    assert "3 of 4" in SearchRun.of(cut | longer).uneven(np.ones(4, dtype=bool))
    assert SearchRun.of(cut | longer).uneven(np.array([True, True, True, False])) is None
    growing = {f"q{i}": {f"d{j}": -j for j in range(8 + i)} for i in range(3)}
    assert SearchRun.of(longer | growing).uneven(np.ones(4, dtype=bool)) is None


def test_infinite_scores_are_last_and_first():
    run = SearchRun.of({"q": {"a": float("-inf"), "b": 0.0, "c": float("inf"), "d": float("inf")}})
    assert as_lists(run) == {"q": [{"c", "d"}, {"b"}, {"a"}]}
    assert as_lists(run.in_trec_order()) == {"q": [{"d"}, {"c"}, {"b"}, {"a"}]}
