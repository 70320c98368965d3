"""Tables 1 and 2 of the case study of MLMME: against numbers computed apart, over several trainings."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from xlingual import image_sentence, sts
from xlingual.comparison.mlmme_tables import MEDIAN, RECALLS, ranking_table, similarity_table
from xlingual.data.sentence_pairs import SentencePairs
from xlingual.results.mlmme_study import (
    MEAN_RECALL,
    MLMME,
    TO_IMAGE,
    TO_SENTENCE,
    VSE,
    Ranking,
    Similarity,
    StudyModel,
    Trained,
)
from xlingual.results.runs import OfRuns
from xlingual.stats.corrections import holm

sys.path.insert(0, str(Path(__file__).parent))
from captions import Images, images, manifest

N, CAPTIONS = 40, {"en": 2, "de": 1}
VECTORS = images(N)
# noise of each training: less of it is better
NOISE = {"vse-en": (1.6, 1.7), "vse-de": (1.5, 1.6), "mlmme-1": (1.0, 1.1), "mlmme-0.5": (1.7, 1.5)}


class Noisy:
    """Captions near their images' vectors, with noise of the encoder's own."""

    def __init__(self, name: str, noise: float, languages: tuple[str, ...]) -> None:
        self.identity, self.noise, self.languages = f"noisy:{name}", noise, languages
        self.seed = sum(map(ord, name))

    def vector(self, row: str) -> np.ndarray:
        rng = np.random.default_rng([self.seed, sum(ord(c) * (i + 1) for i, c in enumerate(row))])
        number = int(row[2:].split(".")[0])
        found: np.ndarray = VECTORS[number] + self.noise * rng.standard_normal(VECTORS.shape[1])
        return found.astype(np.float32)

    def encode(self, batch: Any) -> np.ndarray:
        return np.stack([self.vector(row) for row in batch.ids])


def model(name: str, folder: str, languages: list[str], beta: float) -> StudyModel:
    trained = [Trained(f"{folder}-{i}", i, 5, 3, 100.0, 1.0) for i in range(2)]
    return StudyModel(name, VSE if len(languages) == 1 else MLMME, languages, beta, trained)


MODELS = [
    model("VSE en", "vse-en", ["en"], 1.0),
    model("VSE de", "vse-de", ["de"], 1.0),
    model("MLMME β=1", "mlmme-1", ["en", "de"], 1.0),
    model("MLMME β=0.5", "mlmme-0.5", ["en", "de"], 0.5),
]


def encoders() -> dict[str, Noisy]:
    languages = {"vse-en": ("en",), "vse-de": ("de",)}
    return {
        f"{folder}-{i}": Noisy(f"{folder}-{i}", noise, languages.get(folder, ("en", "de")))
        for folder, both in NOISE.items()
        for i, noise in enumerate(both)
    }


@pytest.fixture(scope="module")
def table() -> Ranking:
    results = image_sentence(
        manifest(N, CAPTIONS), text_encoders=encoders(), image_encoders=Images(VECTORS), store=None
    )
    return ranking_table(results, MODELS)


def hits(name: str, language: str, direction: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each query has a right answer among the first k, and the query's image, naively."""
    encoder = encoders()[name]
    rows = [(f"{language}{i}.{c}", i) for i in range(N) for c in range(CAPTIONS[language])]
    texts = np.array([encoder.vector(row) for row, _ in rows], dtype=np.float64)
    own = np.array([i for _, i in rows])
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (texts, VECTORS.astype(float))]
    cosine = unit[0] @ unit[1].T  # texts × images
    found = []
    if direction == TO_IMAGE:
        for row, image in enumerate(own):
            found.append(sum(cosine[row] > cosine[row, image]) < k)
        return np.array(found, dtype=float), own
    for image in range(N):
        best = max(cosine[row, image] for row in range(len(own)) if own[row] == image)
        found.append(sum(cosine[:, image] > best) < k)
    return np.array(found, dtype=float), np.arange(N)


@pytest.mark.parametrize("direction", [TO_IMAGE, TO_SENTENCE])
@pytest.mark.parametrize("language", ["en", "de"])
def test_values_and_differences_are_those_of_a_count(table: Ranking, language: str, direction: str) -> None:
    rows = {row.measure: row for row in table.rows if (row.language, row.direction) == (language, direction)}
    assert list(rows) == [*RECALLS, MEAN_RECALL, MEDIAN]
    base = f"vse-{language}"
    for name, folder in {f"VSE {language}": base, "MLMME β=1": "mlmme-1", "MLMME β=0.5": "mlmme-0.5"}.items():
        each = {k: [hits(f"{folder}-{i}", language, direction, k)[0] for i in range(2)] for k in (1, 5, 10)}
        theirs = {k: [hits(f"{base}-{i}", language, direction, k)[0] for i in range(2)] for k in (1, 5, 10)}
        for k in (1, 5, 10):
            one = rows[f"Success@{k}"].scores[name]
            assert one.per_run == pytest.approx([own.mean() for own in each[k]])
            if folder != base:
                assert one.gain is not None
                assert one.gain.value == pytest.approx(np.mean(each[k]) - np.mean(theirs[k]))
        mean = rows[MEAN_RECALL].scores[name]
        assert mean.value == pytest.approx(np.mean([each[k] for k in (1, 5, 10)]))


def test_an_interval_counts_images_and_trainings(table: Ranking) -> None:
    row = next(row for row in table.rows if (row.language, row.direction) == ("en", TO_IMAGE))
    one = row.scores["MLMME β=1"]
    assert row.measure == "Success@1" and one.ci is not None
    values = [hits(f"mlmme-1-{i}", "en", TO_IMAGE, 1) for i in range(2)]
    means = [own.mean() for own, _ in values]
    per_image = np.zeros(N)
    for (own, image), mean in zip(values, means, strict=True):
        for value, i in zip(own, image, strict=True):
            per_image[i] += (value - mean) / len(own) / 2
    of_images = (per_image**2).sum() * N / (N - 1)
    of_trainings = np.var(means, ddof=1) / 2
    freedom = (of_images + of_trainings) ** 2 / (of_images**2 / (N - 1) + of_trainings**2)
    half = stats.t(freedom).ppf(0.975) * np.sqrt(of_images + of_trainings)
    assert one.ci.high - one.value == pytest.approx(half, rel=1e-6)


def test_questions_are_corrected_together(table: Ranking) -> None:
    assert len(table.questions) == 8 and len(table.of_beta) == 4
    for questions in (table.questions, table.of_beta):
        expected = holm(np.array([one.gain.p for one in questions]))
        assert [one.gain.p_adjusted for one in questions] == pytest.approx(expected)
    best = [one for one in table.questions if one.model == "MLMME β=1"]
    assert all(one.gain.value > 0 for one in best) and any(one.outcome == "better" for one in best)
    assert {one.other for one in table.of_beta} == {"MLMME β=1"}
    assert all(one.gain.value < 0 for one in table.of_beta)
    assert table.n_images == N and table.n_sentences == {"en": 2 * N, "de": N}


@pytest.mark.parametrize("direction", [TO_IMAGE, TO_SENTENCE])
@pytest.mark.parametrize("language", ["en", "de"])
def test_chance_is_that_of_a_draw(table: Ranking, language: str, direction: str) -> None:
    rows = {row.measure: row for row in table.rows if (row.language, row.direction) == (language, direction)}
    own = 1 if direction == TO_IMAGE else CAPTIONS[language]
    pool = N if direction == TO_IMAGE else N * CAPTIONS[language]
    expected = {k: 1 - math.comb(pool - own, k) / math.comb(pool, k) for k in (1, 5, 10)}
    for k, value in expected.items():
        assert rows[f"Success@{k}"].chance == pytest.approx(value)
    assert rows[MEAN_RECALL].chance == pytest.approx(np.mean(list(expected.values())))
    assert (rows[MEDIAN].chance or 0) > pool / 10
    for one in table.of_chance:
        if (one.language, one.direction) == (language, direction):
            row = rows[MEAN_RECALL]
            assert one.gain.value == pytest.approx(row.scores[one.model].value - (row.chance or 0))


def test_models_that_know_something_are_above_chance_and_others_are_not(table: Ranking) -> None:
    assert len(table.of_chance) == 2 * 2 * 3 and {one.outcome for one in table.of_chance} == {"better"}
    expected = holm(np.array([one.gain.p for one in table.of_chance]))
    assert [one.gain.p_adjusted for one in table.of_chance] == pytest.approx(expected)
    lost = {name: Noisy(name, 1e6, one.languages) for name, one in encoders().items()}
    image_sentence(manifest(N, CAPTIONS), text_encoders=lost, image_encoders=Images(VECTORS), store=None)


def test_a_training_that_is_much_better_than_the_other_does_not_make_both_guess() -> None:
    unlike = {"vse-en-1": 0.3, "vse-de-1": 0.3, "mlmme-1-1": 0.3, "mlmme-0.5-1": 0.3}
    given = {
        name: Noisy(name, unlike.get(name, one.noise), one.languages) for name, one in encoders().items()
    }
    results = image_sentence(
        manifest(N, CAPTIONS), text_encoders=given, image_encoders=Images(VECTORS), store=None
    )
    assert {one.outcome for one in ranking_table(results, MODELS).of_chance} == {"better"}


def test_the_test_against_chance_is_that_of_the_images(table: Ranking) -> None:
    one = table.of_chance[0]
    assert (one.model, one.language, one.direction) == ("VSE en", "en", TO_IMAGE)
    per_image, means = np.zeros(N), []
    for name in ("vse-en-0", "vse-en-1"):
        own = np.mean([hits(name, "en", TO_IMAGE, k)[0] for k in (1, 5, 10)], axis=0)
        means.append(own.mean())
        np.add.at(per_image, hits(name, "en", TO_IMAGE, 1)[1], (own - own.mean()) / len(own) / 2)
    error = np.sqrt((per_image**2).sum() * N / (N - 1))
    value = np.mean(means) - np.mean([k / N for k in (1, 5, 10)])
    assert one.gain.value == pytest.approx(value) and one.gain.ci is not None
    half = stats.t(N - 1).ppf(0.975) * error
    assert one.gain.ci.high - value == pytest.approx(half, rel=1e-6)
    assert one.gain.p == pytest.approx(2 * stats.t(N - 1).sf(value / error), rel=1e-6)


def test_the_order_of_trainings_changes_no_mean(table: Ranking) -> None:
    turned = [StudyModel(one.name, one.kind, one.languages, one.beta, one.trainings[::-1]) for one in MODELS]
    results = image_sentence(
        manifest(N, CAPTIONS), text_encoders=encoders(), image_encoders=Images(VECTORS), store=None
    )
    again = ranking_table(results, turned)
    for row, other in zip(table.rows, again.rows, strict=True):
        for name, one in row.scores.items():
            assert one.value == pytest.approx(other.scores[name].value)
            assert one.per_run == pytest.approx(other.scores[name].per_run[::-1])


class Given:
    """Sentences "word NUMBER": the vector of the number, with noise of the encoder's own."""

    content = ("text",)

    def __init__(self, name: str, noise: float) -> None:
        self.identity, self.noise, self.seed = f"given:{name}", noise, sum(map(ord, name))

    def encode(self, batch: Any) -> np.ndarray:
        return np.stack([self.vector(text) for text in batch.text]).astype(np.float32)

    def vector(self, text: str) -> np.ndarray:
        number = int(text.split()[-1])
        meaning = np.random.default_rng(number).standard_normal(8)
        noise = np.random.default_rng([self.seed, number]).standard_normal(8)
        return np.asarray(meaning + self.noise * noise)


PAIRS = 150


@pytest.fixture(scope="module")
def pairs() -> SentencePairs:
    rng = np.random.default_rng(0)
    sides = [rng.choice(500, PAIRS) for _ in range(2)]  # some recur, so that pairs depend on each other
    true = Given("true", 0.0)
    texts = [[f"word {i}" for i in side] for side in sides]
    cosine = [cosine_of(true, a, b) for a, b in zip(*texts, strict=True)]
    score = np.clip(2.5 + 2 * np.array(cosine) + 0.4 * rng.standard_normal(PAIRS), 0, 5)
    return SentencePairs("p", "p", [str(i) for i in range(PAIRS)], score, texts[0], texts[1])


def cosine_of(encoder: Given, a: str, b: str) -> float:
    one, other = encoder.vector(a), encoder.vector(b)
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


STS = {
    "vse-en-0": 1.5,
    "vse-en-1": 1.3,
    "mlmme-1-0": 0.4,
    "mlmme-1-1": 0.5,
    "mlmme-0.5-0": 1.4,
    "mlmme-0.5-1": 1.4,
}


@pytest.fixture(scope="module")
def similarity(pairs: SentencePairs) -> Similarity:
    given = {name: Given(name, noise) for name, noise in STS.items()}
    results = sts(pairs, language="en", text_encoders=given, trivial=True, store=None)
    return similarity_table(results, MODELS, ["word-overlap", "tfidf"], "en")


def test_correlations_and_their_differences(similarity: Similarity, pairs: SentencePairs) -> None:
    (row,) = similarity.rows
    assert (row.file, row.n_pairs) == ("p", PAIRS) and similarity.reference == "VSE en"
    assert list(row.scores) == ["VSE en", "MLMME β=1", "MLMME β=0.5", "word-overlap", "tfidf"]

    def r(name: str) -> float:
        encoder = Given(name, STS[name])
        cosine = [cosine_of(encoder, a, b) for a, b in zip(pairs.first, pairs.second, strict=True)]
        return float(np.corrcoef(cosine, pairs.score)[0, 1])

    base = [r("vse-en-0"), r("vse-en-1")]
    for name, folder in (("MLMME β=1", "mlmme-1"), ("MLMME β=0.5", "mlmme-0.5")):
        each = [r(f"{folder}-0"), r(f"{folder}-1")]
        one = row.scores[name]
        assert one.per_run == pytest.approx(each, abs=1e-5)
        assert one.gain is not None and one.gain.value == pytest.approx(
            np.mean(each) - np.mean(base), abs=1e-5
        )
    overlap: OfRuns = row.scores["word-overlap"]
    assert overlap.gain is not None and len(overlap.per_run) == 1
    assert overlap.gain.value == pytest.approx(overlap.value - np.mean(base), abs=1e-5)
    gains = [one.gain for one in row.scores.values() if one.gain is not None]
    expected = holm(np.array([gain.p for gain in gains]))
    assert [gain.p_adjusted for gain in gains] == pytest.approx(expected)


def test_the_error_of_a_correlation_is_that_of_a_bootstrap_of_clusters(pairs: SentencePairs) -> None:
    names = ["vse-en-0", "mlmme-1-0"]
    given = {name: Given(name, STS[name]) for name in names}
    results = sts(pairs, language="en", text_encoders=given, store=None)
    once = [StudyModel(m.name, m.kind, m.languages, m.beta, m.trainings[:1]) for m in (MODELS[0], MODELS[2])]
    (row,) = similarity_table(results, once, [], "en").rows
    table = results.tables["pairs"].to_pylist()
    own = {name: [line for line in table if line["encoder"] == name] for name in names}
    cluster = np.array([line["cluster"] for line in own[names[0]]])
    cosine = [np.array([line["cosine"] for line in own[name]]) for name in names]
    rng, drawn = np.random.default_rng(1), []
    ids = np.unique(cluster)
    for _ in range(1500):
        rows = np.concatenate([np.flatnonzero(cluster == one) for one in rng.choice(ids, len(ids))])
        r = [np.corrcoef(x[rows], pairs.score[rows])[0, 1] for x in cosine]
        drawn.append(r[1] - r[0])
    gain = row.scores["MLMME β=1"].gain
    assert gain is not None and gain.ci is not None
    half = stats.t(len(ids) - 1).ppf(0.975) * np.std(drawn)
    assert gain.ci.high - gain.value == pytest.approx(half, rel=0.25)


def test_shifting_and_stretching_cosines_changes_nothing(
    similarity: Similarity, pairs: SentencePairs
) -> None:
    given = {name: Given(name, noise) for name, noise in STS.items()}
    results = sts(pairs, language="en", text_encoders=given, trivial=True, store=None)
    table = results.tables["pairs"]
    place = table.column_names.index("cosine")
    stretched = 5 * table["cosine"].to_numpy() + 1
    import pyarrow as pa

    results.tables["pairs"] = table.set_column(place, "cosine", pa.array(stretched))
    (row,) = similarity_table(results, MODELS, ["word-overlap", "tfidf"], "en").rows
    for name, one in similarity.rows[0].scores.items():
        assert row.scores[name].value == pytest.approx(one.value)
        assert row.scores[name].ci.low == pytest.approx(one.ci.low)  # type: ignore[union-attr]
