"""What a repair is chosen by and tested: over the pool, or in each other language by itself."""

import numpy as np
import pytest

from xlingual import Manifest
from xlingual.data.pools.mix import mix_pool
from xlingual.encoders import Encoder
from xlingual.ranking import CPU
from xlingual.report.pages.repair import changes_by_pair
from xlingual.results.repair import CROSSLINGUAL_MAP, POOL_MAP
from xlingual.transforms import methods
from xlingual.workflows.places import Places
from xlingual.workflows.repairing import repair_encoder
from xlingual.workflows.repairing import tested as the_test
from xlingual.workflows.repairing.parts import CROSSLINGUAL, PartVectors, WholeVectors

TAGS, DIM, TEXTS = ("de", "en", "zh"), 12, 2


class Vectors(Encoder):
    """Vectors of items, moved by language, with noise."""

    content, identity = ("text",), "vectors"

    def __init__(self):
        rng = np.random.default_rng(0)
        self.items = rng.normal(size=(200, DIM))
        self.moved = {tag: 1.5 * rng.normal(size=DIM) for tag in TAGS}

    def encode(self, batch, /):
        rows = []
        for text, tag in zip(batch.text, batch.language, strict=True):
            number = int(text.split()[1])
            noise = np.random.default_rng([number, TAGS.index(tag), len(text)]).normal(size=DIM)
            rows.append(self.items[number] + self.moved[tag] + 1.2 * noise)
        return np.array(rows, dtype=np.float32)


def manifest(items=120, texts=TEXTS):
    rows = [
        {"id": f"{tag}{i}.{n}", "lang": tag, "text": f"{tag} {i} {'x' * n}", "item": str(i)}
        for i in range(items)
        for tag in TAGS
        for n in range(texts)
    ]
    return Manifest.of(rows)


@pytest.fixture(scope="module")
def found():
    data = manifest()
    return {
        of: repair_encoder(data, Vectors(), criterion=of, hubs=False, store=None).found
        for of in ("pool", CROSSLINGUAL)
    }


def part_of(pool):
    sides = (pool.question_texts(), pool.candidate_texts("sentence"))
    return WholeVectors(*(Vectors().encode(side) for side in sides), Places.of(pool)).part(pool)


def naive(part: PartVectors, map) -> np.ndarray:
    """Return the mean over other languages of AP among the language's candidates, in float64, by sorting."""
    asked, answered = (np.asarray(side, dtype=np.float64) for side in part.moved(map))
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    answered /= np.linalg.norm(answered, axis=1, keepdims=True)
    questions, candidates = part.pool.questions, part.pool.candidates
    values = []
    for vector, language, key in zip(asked, questions.language, questions.key, strict=True):
        each = []
        for other in range(len(part.pool.languages)):
            rows = np.flatnonzero(candidates.language == other)
            relevant = np.array([key in candidates.keys[row] for row in rows])
            if other == language or not relevant.any():
                continue
            right = relevant[np.argsort(-(answered[rows] @ vector))]
            places = np.flatnonzero(right) + 1
            each.append(np.mean(np.arange(1, len(places) + 1) / places))
        values.append(np.mean(each) if each else np.nan)
    return np.array(values)


@pytest.mark.parametrize("texts", [1, 2])
@pytest.mark.parametrize("moved", [False, True])
def test_the_criterion_is_that_of_a_naive_loop(texts, moved):
    part = part_of(mix_pool(manifest(40, texts)))
    map = methods.centre(part.fit_data()) if moved else None
    expected = naive(part, map)
    np.testing.assert_allclose(part.precision(map, CPU, None, CROSSLINGUAL), expected, rtol=1e-12)
    np.testing.assert_allclose(part.found(map, CPU).crosslingual, expected, rtol=1e-12)


def test_what_is_chosen_by_is_what_is_tested_and_the_other_stands_beside_it(found):
    pool, other = found["pool"], found[CROSSLINGUAL]
    assert (pool.criterion, other.criterion) == (POOL_MAP, CROSSLINGUAL_MAP)
    assert pool.other is not None and other.other is not None
    assert (pool.whole.target, pool.other.target) == ("pool", "others")
    assert (other.whole.target, other.other.target) == ("others", "pool")
    assert other.whole.before == pytest.approx(pool.other.before)
    assert pool.whole.before == pytest.approx(other.other.before)
    plain = {one.criterion: {t.spec: t.value for t in one.tried}["none"] for one in (pool, other)}
    assert plain[CROSSLINGUAL_MAP] > plain[POOL_MAP] + 0.1  # far fewer candidates
    assert other.tried == sorted(other.tried, key=lambda one: -one.value)


def test_numbers_by_language_and_pair_are_those_of_the_criterion(found):
    other = found[CROSSLINGUAL]
    assert {(one.source, one.target) for one in other.pairs} == {(a, b) for a in TAGS for b in TAGS if a != b}
    for change in ("before", "after"):
        by_language = {one.source: getattr(one, change) for one in other.languages}
        for tag in TAGS:
            pairs = [getattr(one, change) for one in other.pairs if one.source == tag]
            assert by_language[tag] == pytest.approx(np.mean(pairs))  # every item answers in all languages
    assert len(found["pool"].pairs) == 9


def test_a_shift_by_language_that_every_other_language_shares_changes_the_pool_alone():
    """A dimension of the own language: nothing within one other language moves, all of the pool does."""
    part = part_of(mix_pool(manifest(40, 1)))
    tags = np.eye(len(TAGS))

    def beside(vectors, languages):
        return np.hstack([vectors, 3 * tags[languages]]).astype(np.float32)

    pool = part.pool
    apart = PartVectors(
        pool,
        beside(part.questions, pool.questions.language),
        beside(part.candidates, pool.candidates.language),
    )
    one, other = part.precision(None, CPU), apart.precision(None, CPU)
    assert other.mean() < one.mean()
    first, second = (each.precision(None, CPU, None, CROSSLINGUAL) for each in (part, apart))
    np.testing.assert_array_equal(first, second)


def test_it_is_a_condition_where_it_is_not_the_default(found):
    assert "criterion" not in found["pool"].conditions
    assert found[CROSSLINGUAL].conditions["criterion"] == CROSSLINGUAL
    assert found["pool"].signature != found[CROSSLINGUAL].signature


def test_columns_of_the_matrix_are_in_the_order_of_its_rows(found):
    (matrix,) = changes_by_pair(found[CROSSLINGUAL]).maps
    assert [tag for tag, _ in matrix.lines] == list(matrix.columns) == list(TAGS)
    assert [matrix.lines[i][1][i] for i in range(3)] == [None] * 3


def test_intervals_of_all_lists_hold_together(found):
    """The largest studentised error is that over languages, pairs and monolingual search."""
    one = found["pool"]
    together = [*one.languages, *one.pairs, *one.monolingual]
    assert len(together) == 3 + 9 + 3
    assert one.whole.ci is not None and "max-t" not in one.whole.ci.method
    assert one.other is not None and one.other.ci is not None and "max-t" not in one.other.ci.method


def test_a_test_without_any_change_is_none(found):
    part = part_of(mix_pool(manifest(40, 1)))
    same = part.found(None, CPU)
    changes = the_test.tested(same, same, criterion=CROSSLINGUAL, delta=0.01, alpha=0.05, seed=0)
    assert changes.whole.difference == 0 and changes.outcome == "cannot tell"
