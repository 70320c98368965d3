"""Approximate evaluations: exact where everything is searched, and honest about how far off where not."""

import json

import jsonschema
import numpy as np
import pytest

from xlingual.comparison.gate import gate
from xlingual.comparison.reading import read_aligned
from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning, InputError
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.backretrieval import evaluate as module
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.image_sentence.evaluate import image_sentence
from xlingual.evaluation.metric_validation.validate import validate_backretrieval
from xlingual.measures import parse_measure
from xlingual.ranking.approximate import Approximate, Search
from xlingual.results import Results
from xlingual.results.schemas import schema_of
from xlingual.signature import Signature

pytest.importorskip("faiss", reason="the extra ann is not installed")

N, D = 600, 16
RNG = np.random.default_rng(0)
IDEAL = RNG.standard_normal((N, D)) * np.arange(1, D + 1) ** -0.3
NOISE = {
    language: np.random.default_rng([7, ord(language[0])]).standard_normal((N, D))
    for language in ("en", "de")
}


class Given:
    opens_images = False

    def __init__(self, name, noise):
        self.name, self.identity, self.noise = name, f"given:{name}", noise

    def encode(self, batch):
        rows = zip(batch.ids, batch.language, strict=True)
        return np.array(
            [IDEAL[int(i)] + self.noise * NOISE[language][int(i)] for i, language in rows], np.float32
        )


class Seen(Given):
    def encode(self, batch):
        return IDEAL[[int(i) for i in batch.ids]].astype(np.float32)


TEXTS = [Given("good", 0.3), Given("bad", 1.2)]
IMAGES = Seen("images", 0)
WHOLE = Approximate(depth=N, search=Search(probes=10**6), least=1, check=100, candidates=10**6)
HASTY = Approximate(depth=50, search=Search(probes=2), least=1, check=150, candidates=200)
MEASURES = ("R@10", "R@1")


@pytest.fixture(scope="module")
def manifest():
    return Manifest.from_rows(
        [
            {"id": str(i), "lang": language, "text": f"{language} {i}", "item": i}
            for i in range(N)
            for language in ("en", "de")
        ]
    )


def bkr(manifest, ranker=None, measures=MEASURES, texts=TEXTS, images=IMAGES, **options):
    return backretrieval(
        manifest,
        text_encoders=texts,
        image_encoder=images,
        ranker=ranker,
        measures=measures,
        store=None,
        **options,
    )


def xlr(manifest, ranker=None, measures=MEASURES, **options):
    return crosslingual_retrieval(
        manifest, text_encoders=TEXTS, ranker=ranker, measures=measures, store=None, **options
    )


TASKS = {"bkr": bkr, "xlr": xlr}


@pytest.fixture(scope="module")
def hasty(manifest):
    with pytest.warns(DataWarning, match="the search finds only"):
        return {name: task(manifest, HASTY, pairs="en-de") for name, task in TASKS.items()}


@pytest.fixture(scope="module")
def exact(manifest):
    return {name: task(manifest, pairs="en-de") for name, task in TASKS.items()}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.cases(1)
def test_a_search_through_everything_gives_the_exact_numbers(manifest, task):
    options = {"seeds": 2, "sample_size": 200}
    truth, found = TASKS[task](manifest, **options), TASKS[task](manifest, WHOLE, **options)
    assert truth.per_query.equals(found.per_query)
    for one, other in zip(truth.entries, found.entries, strict=True):
        for name in ("value", "chance", "oracle", "normalized", "n_tied", "n_source", "n_target"):
            assert getattr(one, name) == getattr(other, name), name
        assert other.ceiling is None and one.approximation is None
        known = other.approximation
        assert known.recall_nearest == 1 and known.difference == 0 and known.error > 0
        assert known.recall_way_back == (1 if task == "bkr" else None)
        assert other.ci.low < one.ci.low < one.ci.high < other.ci.high or other.ci.high == 1


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.cases(1)
def test_the_error_of_a_hasty_search_is_measured(exact, hasty, task):
    differs = 0
    for one, other in zip(exact[task].entries, hasty[task].entries, strict=True):
        known = other.approximation
        assert known.n_checked == 150 and 0 < known.recall_nearest < 1
        assert known.ci.low <= other.value - one.value <= known.ci.high
        assert abs(other.value - one.value) <= known.error
        assert other.ci.low <= one.value <= other.ci.high
        if one.oracle is not None:
            assert abs(one.oracle - other.oracle) <= known.oracle_error
        differs += one.value != other.value
    assert differs


def test_a_lead_holds_the_error_of_both(exact, hasty):
    for task in TASKS:
        rows = zip(exact[task].summary, hasty[task].summary, strict=True)
        for one, other in ((one, other) for one, other in rows if one.behind):
            assert other.behind.ci.low <= one.behind.value <= other.behind.ci.high
            assert other.behind.ci.high - other.behind.ci.low > one.behind.ci.high - one.behind.ci.low


def test_all_queries_checked_gives_the_exact_number_as_difference(manifest, exact):
    ranker = Approximate(depth=50, search=Search(probes=2), least=1, check=N)
    with pytest.warns(DataWarning, match="the search finds only"):
        found = bkr(manifest, ranker, pairs="en-de")
    for one, other in zip(exact["bkr"].entries, found.entries, strict=True):
        assert other.value - other.approximation.difference == pytest.approx(one.value, abs=1e-12)
        assert other.approximation.ci.low == other.approximation.ci.high


def test_the_signature_tells_and_a_comparison_refuses(exact, hasty, tmp_path):
    conditions = Signature.parse(hasty["bkr"].entries[0].signature).conditions
    assert (conditions["search"], conditions["depth"]) == ("ivf,probes=2", "50")
    exact["bkr"].write(tmp_path / "exact")
    hasty["bkr"].write(tmp_path / "hasty")
    with pytest.raises(InputError, match=r"search: – against ivf,probes=2; depth: – against 50"):
        read_aligned([tmp_path / "exact#good", tmp_path / "hasty#bad"])
    notes = read_aligned([tmp_path / "hasty#good", tmp_path / "hasty#bad"]).notes
    assert any("the numbers are approximate, off by up to (R@10" in note for note in notes)
    with pytest.raises(InputError, match="a gate decides on exact numbers, R@10 was found by a search"):
        gate(f"{tmp_path / 'hasty'}#good", f"{tmp_path / 'hasty'}#bad", margin=0.01)


def test_estimates_from_a_sample_of_candidates_have_no_paired_test(manifest, tmp_path):
    ranker = Approximate(depth=20, search=Search(probes=10**6), least=1, check=150, candidates=200)
    xlr(manifest, ranker, measures=("R@10", "R@20%"), pairs="en-de").write(tmp_path / "run")
    found = read_aligned([tmp_path / "run#good", tmp_path / "run#bad"])
    assert [queries.measure for queries in found.queries] == ["R@10"]
    assert any("R@20% is estimated from a sample of candidates" in note for note in found.notes)


@pytest.mark.parametrize("task", TASKS)
def test_results_follow_the_schema_and_can_be_read_back(hasty, task, tmp_path):
    hasty[task].write(tmp_path)
    content = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema_of("results")).validate(content)
    assert Results.read(tmp_path).entries == hasty[task].entries
    assert Results.read(tmp_path).summary == hasty[task].summary
    assert content["diagnostics"]["ranking"]["search"] == "ivf,probes=2"


@pytest.mark.parametrize("task", TASKS)
def test_the_same_again_with_other_threads(manifest, hasty, task):
    ranker = Approximate(depth=50, search=Search(probes=2), least=1, check=150, candidates=200, threads=2)
    with pytest.warns(DataWarning, match="the search finds only"):
        again = TASKS[task](manifest, ranker, pairs="en-de")
    assert again.entries == hasty[task].entries and again.per_query.equals(hasty[task].per_query)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.cases(1)
def test_ranks_from_all_candidates_are_exact(manifest, task):
    measures = ("MedR", "R@3%")
    options = {"pairs": "en-de", "measures": measures}
    truth = TASKS[task](manifest, **options)
    found = TASKS[task](
        manifest, Approximate(depth=2, search=Search(probes=10**6), least=1, check=N), **options
    )
    for one, other in zip(truth.entries, found.entries, strict=True):
        if one.measure in measures:
            assert other.value == pytest.approx(one.value)
            assert other.approximation.candidates == one.n_target
            assert (other.oracle, other.n_tied, other.approximation.difference) == (None, None, None)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.cases(1)
def test_ranks_from_some_candidates_hold_the_truth(manifest, task):
    ranker = Approximate(depth=2, search=Search(probes=10**6), least=1, check=N, candidates=150)
    options = {"pairs": "en-de", "measures": ("MedR", "R@5%")}
    truth, found = TASKS[task](manifest, **options), TASKS[task](manifest, ranker, **options)
    seen = 0
    for one, other in zip(truth.entries, found.entries, strict=True):
        if one.measure not in options["measures"]:
            continue
        if other.value is None:
            assert one.measure == "MedR" and "is at most" in other.note
            bound = float(other.note.partition("at most ")[2].split()[0].replace(",", ""))
            assert one.value <= bound
            continue
        seen += 1
        assert other.ci.low <= one.value <= other.ci.high
        assert other.approximation.candidates == 150
        assert "150 candidates drawn" in other.ci.method
        assert Signature.parse(other.signature).conditions["drawn"] == "150"
    assert seen >= 3
    assert {row["above"] for row in found.per_query.to_pylist() if row["measure"] == "MedR"} == {None}


def test_measures_that_a_search_cannot_tell_are_refused(manifest):
    for task in TASKS.values():
        with pytest.raises(InputError, match="RR needs the exact rank of every query"):
            task(manifest, HASTY, ("RR",))
        with pytest.raises(InputError, match="R@51 needs the 51 best candidates, the search finds 50: raise"):
            task(manifest, HASTY, ("R@51",))


def test_tasks_that_are_ranked_exactly_refuse(manifest):
    with pytest.raises(InputError, match="ranked exactly: approximate ranking is for"):
        image_sentence(manifest, text_encoders=TEXTS, image_encoders=IMAGES, ranker=HASTY)
    with pytest.raises(InputError, match="a metric validation is ranked exactly"):
        validate_backretrieval(manifest, text_encoders=TEXTS, image_encoder=IMAGES, ranker=HASTY)


@pytest.mark.parametrize("task", TASKS)
def test_small_data_is_ranked_exactly_and_says_so(manifest, exact, task):
    with pytest.warns(DataWarning, match=r"ranked exactly after all: en-de, .*fewer than 30,000"):
        found = TASKS[task](manifest, Approximate(), pairs="en-de")
    assert found.entries == exact[task].entries and found.summary == exact[task].summary


def test_a_image_similarity_of_ones_own_goes_the_exact_way_back(manifest):
    class Own:
        identity = "own"

        def similarity(self, first, second):
            left, right = (IDEAL[[int(i) for i in batch.ids]] for batch in (first, second))
            return left @ right.T / 10

    truth = bkr(manifest, images=Own(), pairs="en-de", examples=False)
    found = bkr(manifest, WHOLE, images=Own(), pairs="en-de", examples=False)
    for one, other in zip(truth.entries, found.entries, strict=True):
        assert (one.value, one.oracle) == (other.value, other.oracle)
        assert other.approximation.recall_way_back == 1


def test_many_images_bring_the_best_thousandth(manifest, monkeypatch):
    monkeypatch.setattr(module, "_LARGE", 100)
    found = bkr(manifest, pairs="en-de")
    share = parse_measure("R@0.1%")
    assert share.name in {entry.measure for entry in found.entries}
    plain = bkr(manifest, pairs="en-de", measures=("R@1",))  # ⌈300/1000⌉ = 1
    values = {(e.encoder, e.measure): e.value for e in [*found.entries, *plain.entries]}
    chance = next(entry.chance for entry in found.entries if entry.measure == share.name)
    assert chance == pytest.approx(1 / 300)
    for encoder in ("good", "bad"):
        assert values[encoder, "R@0.1%"] == values[encoder, "R@1"]


def test_equal_and_zero_vectors(manifest):
    class Same(Given):
        def encode(self, batch):
            return np.ones((len(batch), D), np.float32)

    class Zero(Given):
        def encode(self, batch):
            return np.zeros((len(batch), D), np.float32)

    texts = [Same("same", 0), Zero("zero", 0), TEXTS[0]]
    with pytest.warns(DataWarning, match="all-zero"):
        truth = bkr(manifest, texts=texts, pairs="en-de")
    with pytest.warns(DataWarning, match="all-zero"):
        found = bkr(manifest, WHOLE, texts=texts, pairs="en-de")
    assert truth.per_query.equals(found.per_query)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.cases(1)
def test_misses_are_reported_once_for_each_encoder(manifest, task):
    """Not once for each language pair and seed."""
    with pytest.warns(DataWarning) as caught:
        TASKS[task](manifest, HASTY, seeds=2, sample_size=250)
    misses = [str(one.message) for one in caught if "the search finds only" in str(one.message)]
    assert len(misses) == len(set(misses)) <= len(TEXTS) * (2 if task == "bkr" else 1)
    assert any("4 of 4 samples are below 95 %" in text for text in misses)


def test_no_examples_are_shown_where_no_rank_is_known(manifest):
    ranker = Approximate(depth=2, search=Search(probes=10**6), least=1, check=N, candidates=150)
    for measures, rows in ((("MedR",), 0), (("R@1", "MedR"), 2)):
        found = bkr(manifest, ranker, measures=measures, pairs="en-de", examples=True)
        assert found.examples.num_rows >= rows and (rows > 0 or found.examples.num_rows == 0)
