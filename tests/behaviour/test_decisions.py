"""Compare, gate, plan, leaderboard and history on planted leaders, planted equals and planted changes."""

import json

import numpy as np
import pytest
from tests.behaviour.planted import evaluate, manifest, noisy, same, vectors
from tests.program import answer, command

from xlingual import crosslingual_retrieval, gate, plan

N = 150
# noise of each encoder; `twin` is as good as `good`, but another
LEVELS = {"best": 0.8, "good": 1.5, "twin": 1.5, "poor": 3.0}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Folders of results: all encoders in one, and each in its own."""
    folder = tmp_path_factory.mktemp("decisions")
    data = manifest(folder, N)
    specs = {
        name: noisy(folder, name, N, noise, seed=seed) for seed, (name, noise) in enumerate(LEVELS.items())
    }
    copy = folder / "copy"
    specs["copy"] = noisy(copy, "copy", N, LEVELS["good"], seed=1)  # the vectors of `good` under another name
    evaluate("xlr", data, specs.values(), measure="R@1", out=folder / "all")
    for name, spec in specs.items():
        evaluate("xlr", data, [spec], measure="R@1", out=folder / name)
    return folder


def board(found, **where):
    """Return {encoder: row} of the board of all queries, or of a language pair."""
    wanted = {"source": None, "target": None} | where
    (match,) = [one for one in found["boards"] if all(one[key] == value for key, value in wanted.items())]
    return {row["encoder"]: row for row in match["rows"]}


def test_compare_finds_the_planted_leader_and_the_equal_pair(results):
    rows = board(answer("compare", results / "all", baseline="good"))
    outcomes = {name: row["outcome"] for name, row in rows.items()}
    assert outcomes["good"] == "baseline" and outcomes["best"] == "better" and outcomes["poor"] == "worse"
    assert outcomes["copy"] not in ("better", "worse") and outcomes["twin"] not in ("better", "worse")
    assert rows["copy"]["difference"] == 0
    assert rows["best"]["p_adjusted"] < 0.01 and rows["best"]["ci"]["low"] > 0
    assert rows["twin"]["ci"]["low"] < 0 < rows["twin"]["ci"]["high"]
    assert (rows["best"]["rank_low"], rows["best"]["rank_high"]) == (1, 1)
    for name in ("good", "copy", "twin"):
        assert (rows[name]["rank_low"], rows[name]["rank_high"]) == (2, 4)
    assert (rows["poor"]["rank_low"], rows["poor"]["rank_high"]) == (5, 5)


def test_a_difference_changes_its_sign_with_the_baseline(results):
    one = board(answer("compare", results / "all", baseline="best"))["poor"]
    other = board(answer("compare", results / "all", baseline="poor"))["best"]
    assert one["difference"] == -other["difference"] and one["outcome"] == "worse"
    assert one["ci"]["low"] == pytest.approx(-other["ci"]["high"], abs=0.02)


def test_results_in_several_folders_are_those_of_one(results):
    folders = [results / name for name in (*LEVELS, "copy")]
    one = board(answer("compare", *folders, baseline="good"))
    other = board(answer("compare", results / "all", baseline="good"))
    assert {name: row["value"] for name, row in one.items()} == {
        name: row["value"] for name, row in other.items()
    }
    assert {name: row["difference"] for name, row in one.items()} == {
        name: row["difference"] for name, row in other.items()
    }


@pytest.mark.parametrize(
    ("candidate", "margin", "code", "outcome"),
    [
        ("copy", 0.001, 0, "pass"),
        ("best", 0.001, 0, "pass"),
        ("poor", 0.01, 1, "fail"),
        ("twin", 0.005, 3, "cannot tell"),
        ("poor", 0.9, 0, "pass"),
    ],
)
def test_a_gate_passes_fails_or_cannot_tell(results, candidate, margin, code, outcome):
    found = answer("gate", results / candidate, results / "good", code=code, margin=margin)
    (decision,) = found["decisions"]
    assert (found["candidate"], found["baseline"]) == (candidate, "good")
    assert found["outcome"] == decision["outcome"] == outcome
    assert decision["difference"] == pytest.approx(decision["candidate"] - decision["baseline"])
    assert decision["low"] <= decision["difference"] and decision["n_queries"] == N


def test_a_gate_for_each_pair_fails_where_one_pair_lost(tmp_path):
    """The new encoder lost German queries alone."""
    rng = np.random.default_rng(0)
    data, eye = manifest(tmp_path, N), np.eye(N)
    broken = eye.copy()
    broken[: N // 2] = rng.normal(size=(N // 2, N))
    evaluate("xlr", data, [same(tmp_path, "old", eye)], measure="R@1", out=tmp_path / "o")
    new = vectors(tmp_path, "new", {"de": eye, "en": eye - 2.0 * np.eye(N)[[0]]})  # de-en sees no change …
    evaluate("xlr", data, [new], measure="R@1", out=tmp_path / "n")
    found = answer("gate", tmp_path / "n", tmp_path / "o", code=0, margin=0.05, per_pair=True)
    assert {d["outcome"] for d in found["decisions"]} == {"pass"} and len(found["decisions"]) == 2
    worse = vectors(tmp_path, "worse", {"de": broken, "en": eye})
    evaluate("xlr", data, [worse], measure="R@1", out=tmp_path / "w")
    found = answer("gate", tmp_path / "w", tmp_path / "o", code=1, margin=0.05, per_pair=True)
    assert {d["outcome"] for d in found["decisions"]} == {"fail"}
    assert (
        command("gate", tmp_path / "w", tmp_path / "o", "--margin", 0.9, "--pairs", "de-en", "--quiet")[0]
        == 0
    )


def test_candidates_in_order_stop_at_the_first_that_does_not_pass(results):
    def passing(first, *then, code):
        then = [results / name for name in then]
        decided = answer("gate", results / first, results / "good", code=code, margin=0.05, then=then)
        return decided["candidate"], [(one["candidate"], one["outcome"]) for one in decided["in_order"]]

    assert passing("copy", "poor", "best", code=0) == ("copy", [("copy", "pass"), ("poor", "fail")])
    assert passing("best", "copy", code=0) == ("copy", [("best", "pass"), ("copy", "pass")])
    assert passing("poor", "best", code=1) == ("poor", [("poor", "fail")])


@pytest.mark.slow
def test_wrong_passes_in_order_are_as_rare_as_alpha(tmp_path):
    """The first candidate is as good as the baseline; the second loses the margin, so it must not pass."""
    n, wrong, rounds = 200, 0, 60
    data, eye = manifest(tmp_path, n), np.eye(n)
    for seed in range(rounds):
        draw, runs = np.random.default_rng(seed), {}
        for name, share in (("base", 0.3), ("same", 0.3), ("worse", 0.5)):
            german = np.where(draw.random((n, 1)) < share, np.roll(eye, 1, axis=0), eye)
            spec = vectors(tmp_path / str(seed), name, {"de": german, "en": eye})
            runs[name] = crosslingual_retrieval(data, spec, pairs="de-en", measures=["R@1"], store=None)
        ordered = gate(runs["same"], runs["base"], margin=0.2, then=[runs["worse"]], replicates=199)
        wrong += any(one.candidate == "worse" and one.outcome == "pass" for one in ordered.in_order)
    assert wrong <= rounds * 0.05 + 3 * np.sqrt(rounds * 0.05 * 0.95)


def test_other_conditions_are_not_compared(results, tmp_path):
    other = manifest(tmp_path, N + 1)
    evaluate("xlr", other, [noisy(tmp_path, "good", N + 1, 0.9)], measure="R@1", out=tmp_path / "r")
    for verb in (("compare",), ("gate", "--margin", "0.01")):
        code, out, err = command(*verb, results / "good", tmp_path / "r")
        assert (code, out, err.count("\n")) == (2, "", 1)


def test_plan_needs_a_quarter_of_the_queries_for_twice_the_effect(results):
    baseline = f"{results / 'all'}#good"
    small, large = (
        answer("plan", results / "all", baseline=baseline, effect=effect)["rows"] for effect in (0.05, 0.1)
    )
    for one, other in zip(small, large, strict=True):
        assert one["encoder"] == other["encoder"] and one["encoder"] != "good"
        if one["queries"] and other["queries"] and other["queries"] > 30:
            assert one["queries"] / other["queries"] == pytest.approx(4, rel=0.1)
    needed = {row["encoder"]: row["queries"] for row in small}
    assert needed["twin"] > 200
    less = answer("plan", results / "all", baseline=baseline, effect=0.05, power=0.5)["rows"]
    assert {row["encoder"]: row["queries"] for row in less}["twin"] < needed["twin"]


def test_what_a_plan_asks_for_tells_the_effect(tmp_path):
    """With as many queries as planned, a true difference of that size is found in four of five samples."""
    rng = np.random.default_rng(0)

    def outcome_of(n, seed, out):
        folder = tmp_path / f"{n}-{seed}"
        data, eye = manifest(folder, n), np.eye(n)
        draw = np.random.default_rng(seed)
        lost = np.roll(eye, 1, axis=0)
        specs = []
        for name, share in (("a", 0.3), ("b", 0.5)):
            wrong = draw.random(n) < share
            specs.append(vectors(folder, name, {"de": np.where(wrong[:, None], lost, eye), "en": eye}))
        evaluate("xlr", data, specs, measure="R@1", pairs="de-en", out=folder / out)
        return folder / out

    pilot = outcome_of(200, int(rng.integers(1000)), "pilot")
    (row,) = answer("plan", pilot, baseline=f"{pilot}#a", effect=0.2)["rows"]
    assert 60 < row["queries"] < 140  # (1.96 + 0.84)² · (0.21 + 0.25) / 0.2² = 90
    found = [
        board(answer("compare", outcome_of(row["queries"], seed, "r"), baseline="a"))["b"]["outcome"]
        for seed in range(10)
    ]
    assert found.count("worse") >= 5 and "better" not in found


def test_a_leaderboard_ranks_by_what_can_be_told_apart(results, tmp_path):
    found = answer("leaderboard", results / "all", out=tmp_path / "board")
    (column,) = found["columns"]
    cells = {cell["encoder"]: cell for cell in column["cells"]}
    assert found["encoders"][0] == "best" and found["encoders"][-1] == "poor"
    ranks = {name: (cell["rank_low"], cell["rank_high"]) for name, cell in cells.items()}
    assert ranks == {"best": (1, 1), "poor": (5, 5)} | dict.fromkeys(("good", "copy", "twin"), (2, 4))
    assert [name for name, cell in cells.items() if cell["top"]] == ["best"]
    assert cells["good"]["value"] == cells["copy"]["value"]
    assert any((tmp_path / "board").iterdir())


def test_compare_prints_every_format(results):
    for form in ("table", "markdown", "latex", "csv", "json"):
        code, out, _ = command("compare", results / "all", "--format", form)
        assert code == 0 and all(name in out for name in LEVELS), form
    assert {row["encoder"] for row in json.loads(out)["boards"][0]["rows"]} == {*LEVELS, "copy"}


def test_at_the_ceiling_every_verdict_names_the_measure_that_can_tell(tmp_path):
    data, a, b = manifest(tmp_path, N), noisy(tmp_path, "a", N, 0.05), noisy(tmp_path, "b", N, 0.3)
    both = ("--text-encoder", a, "--text-encoder", b)
    for measure, remedies in (("R@10", ("R@1", "pool")), ("R@1", ("pool",))):
        out = tmp_path / measure
        verdicts = [
            command(*words)[1]
            for words in (
                ("evaluate", "xlr", data, *both, "--measure", measure, "--out", out),
                ("compare", out),
                ("plan", out, "--effect", "0.01"),
                ("gate", f"{out}#a", f"{out}#b", "--margin", "0.01"),
            )
        ]
        for verdict in verdicts:
            advice = " ".join(verdict.split()).partition("To see a difference")[2]
            assert any(remedy in advice.partition(";")[0] for remedy in remedies)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_numbers_of_numpy_are_numbers(results, kind):
    a, b = results / "best", results / "good"
    decisions = gate(a, b, margin=0.25).decisions
    assert gate(a, b, margin=kind(0.25), alpha=np.float64(0.05)).decisions == decisions
    planned = plan(results / "all", effect=0.25, queries=[300])
    assert plan(results / "all", effect=kind(0.25), queries=[np.int64(300)]).rows == planned.rows
    data, spec = manifest(results / "numpy", N), noisy(results / "numpy", "e", N, 1.0)
    plain = crosslingual_retrieval(data, spec, seeds=2, sample=50, store=None)
    numpy = crosslingual_retrieval(data, spec, seeds=np.int64(2), sample=np.int32(50), store=None)
    assert [entry.value for entry in plain.entries] == [entry.value for entry in numpy.entries]
    assert plain.request == numpy.request
