"""The record of a leaderboard: its pairs, its gaps, and where no probability is given."""

import json

import numpy as np
import pytest

from xlingual import Manifest, backretrieval
from xlingual.evaluation.order_confidence import looks
from xlingual.results import Results

N = 130


class Given:
    """Vectors by text row."""

    def __init__(self, name, vectors, **kinds):
        self.identity, self.vectors = name, vectors.astype(np.float32)
        for key, value in kinds.items():
            setattr(self, key, value)

    def encode(self, batch):
        (items,) = (each.index for each in batch.numberings if each.unit == "items")
        return self.vectors[items]


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    meaning = rng.standard_normal((N, 6))
    rows = [{"id": f"{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(N)]
    images = Given("images", np.hstack([meaning, rng.standard_normal((N, 6))]))

    def noisy(size, seed):
        other = np.random.default_rng(seed)
        return Given(
            f"noise {size}",
            np.hstack([meaning + size * other.standard_normal((N, 6)), other.standard_normal((N, 12))]),
        )

    return (
        Manifest.from_rows(rows),
        images,
        {"good": noisy(0.2, 1), "fair": noisy(1.2, 2), "none": noisy(50, 3)},
    )


def run(world, encoders=None, **options):
    manifest, images, made = world
    options = {"pairs": "en-de,de-en", "store": None, "examples": False, "neighbours": False} | options
    return backretrieval(manifest, encoders or made, image_encoder=images, **options)


@pytest.fixture(scope="module")
def results(world):
    return run(world)


def test_a_planted_order_is_told(results):
    found = results.order_confidence
    assert found.note is None
    assert [(one.ahead, one.behind, one.neighbours) for one in found.pairs] == [
        ("good", "fair", True), ("good", "none", False), ("fair", "none", True),
    ]  # fmt: skip
    last = found.pairs[1]
    assert last.probability > 0.95
    assert last.right == 9
    assert last.note is None
    overall = {row.encoder: row for row in results.summary if row.source is None and row.measure == "R@10"}
    assert found.best == pytest.approx(overall["good"].value - overall["good"].chance)


def test_gaps_are_those_of_the_leaderboard_in_standard_errors(results):
    from scipy.stats import t

    row = next(r for r in results.summary if r.encoder == "none" and r.measure == "R@10" and r.source is None)
    pair = results.order_confidence.pairs[1]
    reach = (row.behind.ci.high - row.behind.ci.low) / 2
    widths = reach * pair.z / row.behind.value  # the quantile of t: at least that of the normal distribution
    assert t.ppf(0.975, 1000) * 0.99 < widths < t.ppf(0.975, 10)


def test_it_is_written_and_read(results, tmp_path):
    results.write(tmp_path)
    assert Results.read(tmp_path).order_confidence == results.order_confidence
    assert (
        json.loads((tmp_path / "results.json").read_text("utf-8"))["order_confidence"]["pairs"][0]["ahead"]
        == "good"
    )


def test_one_encoder_has_no_order(world):
    found = run(world, {"good": world[2]["good"]})
    assert found.order_confidence is None
    assert "order_confidence" not in found.to_dict()


def test_other_measures_have_none(world):
    assert run(world, measures=["RR"]).order_confidence is None


def test_the_order_of_entry_changes_nothing(world, results):
    backwards = dict(reversed(list(world[2].items())))
    assert run(world, backwards).order_confidence == results.order_confidence


def test_several_seeds_and_one_pair(world):
    found = run(world, pairs="en-de", seeds=2, sample_size=60).order_confidence
    assert found.note is None
    assert all(one.probability is not None for one in found.pairs)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"sample_size": 30}, "50 queries or more, and here are 30"),
        ({"similarity": "transductive-csls"}, "hubs"),
    ],
)
@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
def test_outside_what_was_seen_it_is_refused(world, options, why):
    found = run(world, **options).order_confidence
    for pair in found.pairs:
        assert pair.probability is None
        assert pair.right is None
        assert why in pair.note


def test_an_encoder_of_looks_is_refused_and_others_are_not(world):
    _, images, made = world
    with_looks = {**made, "looks": Given("looks", images.vectors)}
    for pair in run(world, with_looks).order_confidence.pairs:
        refused = "looks" in (pair.ahead, pair.behind)
        assert (pair.probability is None) == refused
        assert refused == ("lie as their images do" in (pair.note or ""))


def test_what_was_trained_on_images_is_refused(world, results):
    from dataclasses import replace

    from xlingual.evaluation.order_confidence import judge

    told = replace(results, encoders={"good": {"trained_on_images": True}, "fair": {"returns_lists": True}})
    why = {
        name: judge._kind(name, told, {}, {}, results.order_confidence.basis)
        for name in ("good", "fair", "none")
    }
    assert "trained on images" in why["good"]
    assert "search system" in why["fair"]
    assert why["none"] is None


def correlated(texts, images):
    return looks.correlation(looks.centred(texts), looks.centred(images))


def naive(texts, images):
    """Pearson's correlation of cosines over all pairs, one after the other."""

    def cosine(a, b):
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    pairs = [(i, j) for i in range(len(texts)) for j in range(i)]
    x, y = ([cosine(v[i], v[j]) for i, j in pairs] for v in (texts, images))
    mx, my = np.mean(x), np.mean(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True)) / np.sqrt(
        sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)
    )


def test_looks_equal_a_naive_correlation_and_do_not_turn():
    rng = np.random.default_rng(4)
    texts, images = rng.standard_normal((12, 5)), rng.standard_normal((12, 7))
    images[:, :5] += texts
    found = correlated(texts, images)
    assert found == pytest.approx(naive(texts, images), abs=1e-12)
    turn, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    order = rng.permutation(12)
    assert correlated(texts[order] @ turn * 3, images[order]) == pytest.approx(found, abs=1e-12)


def test_looks_of_a_constant_encoder_are_not_known():
    assert correlated(np.ones((5, 3)), np.random.default_rng(0).standard_normal((5, 5))) is None
