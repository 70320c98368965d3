"""Multilingual pools and judged retrieval: encoders, runs and judgements whose numbers theory tells."""

import numpy as np
import pytest
from tests.behaviour.planted import TAGS, evaluate, manifest, pool, pool_vectors, run_file, write_lines
from tests.program import answer, command

N, EXTRA = 12, 4  # questions, and sentences without a question, in each language
HALF = N + EXTRA
ALL = 2 * HALF
EYE = np.eye(N + EXTRA)


def average_precision(places):
    """AP of the 1-based places of all relevant candidates."""
    return np.mean([(i + 1) / place for i, place in enumerate(sorted(places))])


def in_random_order(relevant, n):
    """Expected AP of `relevant` of n candidates in random order, by the expectation over each place."""
    return (
        sum(
            (1 + (place - 1) * (relevant - 1) / (n - 1)) / place * (relevant / n) for place in range(1, n + 1)
        )
        / relevant
    )


def own_first(meaning, weight=10.0):
    """Vectors of two languages in which the language weighs more than the meaning."""
    sides = {"de": [weight, 0], "en": [0, weight]}
    return {tag: np.hstack([meaning, np.tile(side, (len(meaning), 1))]) for tag, side in sides.items()}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = pool(tmp_path_factory.mktemp("pool"), N, distractors=EXTRA)
    asked = dict.fromkeys(TAGS, EYE[:N])
    both = {
        "perfect": (asked, dict.fromkeys(TAGS, EYE)),
        "constant": tuple(dict.fromkeys(TAGS, np.ones((n, 2))) for n in (N, N + EXTRA)),
        "zero": tuple(dict.fromkeys(TAGS, np.zeros((n, 2))) for n in (N, N + EXTRA)),
        "biased": (own_first(EYE[:N]), own_first(EYE)),
        "opposite": (asked, dict.fromkeys(TAGS, -EYE)),
        "english": (asked, {"de": -EYE, "en": EYE}),
    }
    specs = [pool_vectors(folder, name, *sides) for name, sides in both.items()]
    return evaluate("lareqa", folder, specs, measure=["AP", "RR", "R@1", "R@2", "AP@20/min"])


def values(found, measure):
    """Return {encoder: value over all questions} of a measure."""
    return {row["encoder"]: row["value"] for row in found["results"] if row["measure"] == measure}


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        ("perfect", {"AP": 1, "RR": 1, "R@1": 1 / 2, "R@2": 1, "AP@20/min": 1}),
        ("constant", {"AP": in_random_order(2, ALL), "R@1": 1 / ALL, "R@2": 2 / ALL}),
        ("zero", {"AP": in_random_order(2, ALL), "R@1": 1 / ALL, "R@2": 2 / ALL}),
        ("biased", {"AP": average_precision([1, HALF + 1]), "RR": 1, "R@1": 1 / 2, "R@2": 1 / 2}),
        ("opposite", {"AP": average_precision([ALL - 1, ALL]), "RR": 1 / (ALL - 1), "R@2": 0}),
        ("english", {"AP": average_precision([1, ALL]), "RR": 1, "R@1": 1 / 2, "AP@20/min": 1 / 2}),
    ],
)
def test_pools_at_the_ends_of_the_scale(found, encoder, expected):
    for measure, value in expected.items():
        assert values(found, measure)[encoder] == pytest.approx(value, abs=1e-12), measure


def test_chance_of_a_pool_is_what_a_constant_encoder_scores(found):
    for measure in ("AP", "RR", "R@1", "R@2"):
        constant = values(found, measure)["constant"]
        for row in found["results"]:
            assert row["measure"] != measure or row["chance"] == pytest.approx(constant, abs=1e-12)


def test_language_bias_is_told_from_meaning(found):
    """In the biased space all sentences of the question's language come first, in the right order."""
    views = {row["encoder"]: row["views"] for row in found["results"] if row["measure"] == "AP"}
    for own in TAGS:
        for other in TAGS:
            way = f"{own}->{other}"
            assert views["perfect"]["one_target"][way] == 1
            place = 1 if own == other else HALF  # the right sentence of the own language is taken out
            assert views["biased"]["one_target"][way] == pytest.approx(1 / place)
            assert views["english"]["one_target"][way] == pytest.approx(1 if other == "en" else 1 / (ALL - 1))
            assert views["biased"]["language_share_top100"][way] == 0.5  # the pool has fewer
        assert views["biased"]["monolingual_pool"][own] == 1
    assert views["perfect"]["alignment"]["strict"] == views["perfect"]["alignment"]["strong"] == 1
    assert views["biased"]["alignment"]["strict"] == 0


def test_subsets_of_languages_and_names_of_languages(found, tmp_path):
    """A pool of three languages restricted to two is the pool of two; names of languages change nothing."""
    rng = np.random.default_rng(0)
    numbers = {
        tags: evaluate("lareqa", *noisy_pool(tmp_path / "-".join(tags), tags, rng=np.random.default_rng(1)))
        for tags in (("de", "en", "fi"), ("aa", "bb", "cc"))
    }
    one, other = (values(found, "AP")["noisy"] for found in numbers.values())
    assert one == pytest.approx(other, abs=1e-12) and 0.1 < one < 0.9
    folder, specs = noisy_pool(tmp_path / "three", ("de", "en", "fi"), rng=rng)
    few = evaluate("lareqa", folder, specs, languages="de,en")
    whole = evaluate("lareqa", folder, specs, subset="de,en")
    (row,) = [row for row in whole["results"] if row["measure"] == "AP"]
    shown = str(row["views"].get("subsets"))
    assert f"{values(few, 'AP')['noisy']:.12f}"[:12] in shown


def noisy_pool(folder, tags, *, rng):
    """Write a pool with an encoder of middling quality."""
    pool(folder, N, tags, EXTRA)
    candidates = {tag: EYE + 0.35 * rng.normal(size=EYE.shape) for tag in tags}
    questions = {tag: EYE[:N] + 0.35 * rng.normal(size=(N, len(EYE))) for tag in tags}
    return folder, [pool_vectors(folder, "noisy", questions, candidates)]


# ------------------------------------------------------------------------------------------------- judged
GRADES = (3, 2, 1)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Query i has documents i, i + 1, i + 2 of grades 3, 2, 1, and document i + 3 is judged 0."""
    folder = tmp_path_factory.mktemp("judged")
    documents = [f"d{i}" for i in range(N)]
    for name, kind in (("corpus", "d"), ("queries", "q")):
        write_lines(
            folder / f"{name}.jsonl",
            [{"_id": f"{kind}{i}", "text": f"{kind} {i}", "language": "en"} for i in range(N)],
        )
    lines = [f"q{i} 0 d{(i + step) % N} {grade}" for i in range(N) for step, grade in enumerate((*GRADES, 0))]
    (folder / "judged.qrels").write_text("\n".join(lines) + "\n")

    def run(name, order):
        """A list of all documents; `order` are steps from the query's own document."""
        rest = [step for step in range(N) if step not in order]
        lists = {f"q{i}": [documents[(i + step) % N] for step in (*order, *rest)] for i in range(N)}
        return f"{name}={run_file(folder / f'{name}.trec', lists)}"

    runs = [run("ideal", (0, 1, 2)), run("turned", (2, 1, 0)), run("late", (5, 6, 0, 1, 2))]
    return folder, runs


def dcg(grades, k=10):
    return sum(grade / np.log2(place + 2) for place, grade in enumerate(grades[:k]))


def test_judged_runs_score_what_their_order_says(judged):
    folder, runs = judged
    measures = ["nDCG@10", "AP", "RR", "R@1", "R@3", "Judged@3", "Success@1"]
    found = evaluate("retrieval", folder, [], run=runs, qrels=folder / "judged.qrels", measure=measures[:5])
    best = dcg(GRADES)
    expected = {
        "ideal": (1, 1, 1, 1 / 3, 1),
        "turned": (dcg(GRADES[::-1]) / best, 1, 1, 1 / 3, 1),
        "late": (dcg((0, 0, *GRADES)) / best, average_precision([3, 4, 5]), 1 / 3, 0, 1 / 3),
    }
    for name, numbers in expected.items():
        scored = tuple(values(found, measure)[name] for measure in measures[:5])
        assert scored == pytest.approx(numbers, abs=1e-12), name
    strict = evaluate(
        *("retrieval", folder, []),
        run=runs, qrels=folder / "judged.qrels", relevant_from=3, measure=["AP"],
    )  # fmt: skip
    assert values(strict, "AP") == pytest.approx({"ideal": 1, "turned": 1 / 3, "late": 1 / 3})


def test_vectors_and_their_run_score_the_same(judged, tmp_path):
    folder, _ = judged
    rng = np.random.default_rng(3)
    spec = pool_vectors(folder, "dense", {"en": rng.normal(size=(N, 6))}, {"en": rng.normal(size=(N, 6))})
    given = {"qrels": folder / "judged.qrels", "measure": ["nDCG@10", "AP"]}
    dense = evaluate("retrieval", folder, [spec], trec=tmp_path / "trec", **given)
    run = evaluate("retrieval", folder, [], run=[f"dense={tmp_path / 'trec' / 'dense.run'}"], **given)
    for measure in ("nDCG@10", "AP"):
        assert values(dense, measure) == pytest.approx(values(run, measure), abs=1e-12)


def test_unanswered_queries_are_misses(judged):
    folder, _ = judged
    half = run_file(folder / "half.trec", {f"q{i}": [f"d{i}"] for i in range(N // 2)})
    found = evaluate(
        "retrieval", folder, [], run=[f"half={half}"], qrels=folder / "judged.qrels", measure="R@1"
    )
    assert values(found, "R@1")["half"] == pytest.approx(1 / 2 * 1 / 3)


def test_runs_are_compared_and_gated_from_their_files(judged):
    folder, runs = judged
    given = {"qrels": folder / "judged.qrels", "measure": "nDCG@10"}
    rows = answer("compare", *runs, baseline="ideal", **given)["boards"][0]["rows"]
    outcomes = {row["encoder"]: row["outcome"] for row in rows}
    assert (outcomes["ideal"], outcomes["late"]) == ("baseline", "worse") and outcomes["turned"] != "better"
    answer("gate", runs[2], runs[0], code=1, margin=0.05, **given)
    answer("gate", runs[0], runs[2], code=0, margin=0.05, **given)


def test_a_mixed_pool_has_the_languages_that_were_asked_for(tmp_path):
    data = manifest(tmp_path, 40, ("de", "en", "fi"))
    code, _, err = command(
        *("data", "mix-pool", data, "--out", tmp_path / "mixed", "--mix", "en=3,de=1"),
        *("--candidates", 20, "--file-format", "jsonl", "--quiet"),
    )
    assert code == 0, err
    lines = (tmp_path / "mixed" / "candidates.jsonl").read_text().splitlines()
    assert [sum(f'"{tag}' in line for line in lines) for tag in ("en", "de", "fi")] == [15, 5, 0]
