"""Answers of `_msearch`: of several requests in one file, with partial results, and broken ones."""

import json
import warnings

import pytest

from xlingual.data.runs import SearchRun
from xlingual.errors import DataWarning, InputError

GOOD = {"hits": {"hits": [{"_id": "d3", "_score": 2.0}, {"_id": "d1", "_score": 1.0}]}}


def answer(*responses):
    return {"took": 3, "responses": list(responses)}


@pytest.fixture
def read(tmp_path):
    def found(text, ids, name="a.json"):
        (tmp_path / name).write_text(text)
        (tmp_path / "ids.txt").write_text("".join(f"{one}\n" for one in ids))
        return SearchRun.read(tmp_path / name, ids=tmp_path / "ids.txt")

    return found


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"timed_out": True}, "1 timed out"),
        ({"_shards": {"total": 5, "successful": 3, "failed": 2}}, "1 with failed shards"),
        ({"timed_out": True, "_shards": {"failed": 1}}, "1 timed out, 1 with failed shards"),
    ],
)
def test_partial_results_are_counted(read, part, reason):
    whole = {**GOOD, "timed_out": False, "_shards": {"total": 5, "successful": 5, "failed": 0}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = read(json.dumps(answer(whole, whole)), ["q1", "q2"])
    with pytest.warns(DataWarning) as seen:
        run = read(json.dumps(answer(whole, {**GOOD, **part})), ["q1", "q2"])
    (message,) = (str(one.message) for one in seen)
    assert f"1 of 2 responses hold partial results ({reason}; first: 'q2')" in message
    assert run.digest == wanted.digest


def test_an_error_is_not_counted_as_partial(read):
    failed = {"error": {"type": "x"}, "status": 500, "timed_out": True}
    with pytest.warns(DataWarning) as seen:
        read(json.dumps(answer(GOOD, failed)), ["q1", "q2"])
    assert len(seen) == 1 and "1 of 2 responses are errors" in str(seen[0].message)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson"])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("sizes", [(3,), (1, 2), (2, 0, 1), (1, 1, 1)])
def test_answers_of_several_requests_are_one_run(read, name, indent, sizes):
    hits = [{"hits": {"hits": [{"_id": f"d{place}", "_score": 1.0}]}} for place in range(3)]
    left = iter(hits)
    bodies = [answer(*(next(left) for _ in range(size))) for size in sizes]
    text = "\n".join(json.dumps(body, indent=indent) for body in bodies) + "\n"
    run = read(text, ["a", "b", "c"], name)
    assert dict(zip(run.queries, (run.candidates[one] for one in run.candidate), strict=True)) == {
        "a": "d0",
        "b": "d1",
        "c": "d2",
    }


def test_responses_that_are_missing_are_counted(read):
    with pytest.raises(
        InputError, match=r"has 1 responses, .* 3 ids: 2 responses are missing; where several"
    ):
        read(json.dumps(answer(GOOD)), ["a", "b", "c"])
    two = "\n".join([json.dumps(answer(GOOD))] * 2)
    with pytest.raises(InputError, match=r"has 2 responses in 2 answers, .* 3 ids: 1 responses are missing"):
        read(two, ["a", "b", "c"])
    with pytest.raises(InputError, match=r"has 2 responses in 2 answers, .* 1 ids: give the file"):
        read(two, ["a"])


@pytest.mark.parametrize(
    ("lines", "match"),
    [
        (
            [answer(GOOD), {"error": {"type": "too_many"}, "status": 429}],
            "answer 2 is an error of the engine",
        ),
        (
            [{"error": {"type": "too_many"}, "status": 429}],
            "a.json is an error of the engine, no answer: .*too_m",
        ),
        ([answer(GOOD), {"hits": []}], "answer 2 is none of _msearch"),
    ],
)
def test_requests_that_failed_are_refused(read, lines, match):
    with pytest.raises(InputError, match=match):
        read("\n".join(map(json.dumps, lines)), ["a", "b"])


def test_an_answer_that_was_cut_is_refused(read):
    text = json.dumps(answer(GOOD))
    with pytest.raises(InputError, match="answer 2 is not whole"):
        read(f"{text}\n{text[:-9]}", ["a", "b"])


def test_ids_are_for_answers_alone(read):
    with pytest.raises(InputError, match="ids= is for answers of _msearch"):
        read(json.dumps({"a": {"d": 1.0}}), ["a"])
