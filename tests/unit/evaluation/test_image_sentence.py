"""Image–sentence ranking: numbers against slow loops and by hand, and what each rule counts."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from xlingual import DataWarning, InputError, Manifest, image_sentence
from xlingual.evaluation.both_ways import rank_both_ways, sum_of_recalls_between
from xlingual.results import by_key

N = 30
WAYS = (("en", "image"), ("image", "en"))


def png(number):
    """Return an image of one pixel; different numbers are different bytes."""
    file = BytesIO()
    Image.new("RGB", (1, 1), (number % 256, number // 256, 7)).save(file, "PNG")
    return file.getvalue()


def rows(captions):
    """Return rows in the long form: so many captions of each language for each of N images."""
    return [
        {"id": f"{lang}{i}.{c}", "lang": lang, "text": f"{lang} {i} {c}", "image": png(i)}
        for i in range(N)
        for lang, count in captions.items()
        for c in range(count)
    ]


IMAGES = np.random.default_rng(N).standard_normal((N, 12)).astype(np.float32)


def number_of(name):
    return int(name[2:].split(".")[0])


class Captions:
    """Texts as noisy copies of their images' vectors; `noise` None: a constant encoder."""

    def __init__(self, name, noise, languages=None):
        self.name, self.identity, self.noise = name, f"captions:{name}", noise
        if languages is not None:
            self.languages = languages

    def encode(self, batch):
        if self.noise is None:
            return np.ones((len(batch.ids), IMAGES.shape[1]), dtype=np.float32)
        seeds = [[number_of(name), int(name.split(".")[1]), len(name)] for name in batch.ids]
        noise = np.stack([np.random.default_rng(seed).standard_normal(IMAGES.shape[1]) for seed in seeds])
        return (IMAGES[[seed[0] for seed in seeds]] + self.noise * noise).astype(np.float32)


class Pictures:
    """Vectors of images by the number in the id of the row that shows them."""

    name = identity = "images"

    def __init__(self, vectors=IMAGES):
        self.vectors, self.calls = vectors, []

    def encode(self, batch):
        self.calls.append(len(batch.ids))
        return self.vectors[[number_of(name) for name in batch.ids]]


def evaluated(captions, *texts, **options):
    data = captions if isinstance(captions, Manifest) else Manifest.of(rows(captions))
    return image_sentence(data, list(texts), **{"image_encoders": Pictures(), "store": None} | options)


def entry(results, encoder, source, target, measure):
    (found,) = by_key(results.entries, encoder=encoder, source=source, target=target, measure=measure)
    return found


def unit(vectors):
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return vectors.astype(np.float64) / np.where(lengths == 0, 1, lengths)


def slow_ranks(texts, owner, images):
    """Return ranks from 0 of sentence → image and of image → sentence, by sorting in float64."""
    scores = unit(texts) @ unit(images).T
    to_image = [np.argsort(-row).tolist().index(own) for row, own in zip(scores, owner, strict=True)]
    orders = [np.argsort(-column).tolist() for column in scores.T]
    to_text = [min(order.index(t) for t in np.flatnonzero(owner == i)) for i, order in enumerate(orders)]
    return np.array(to_image), np.array(to_text)


@pytest.mark.parametrize("fold", [None, 15])
def test_all_numbers_equal_slow_loops(fold):
    encoder, size = Captions("model", 1.0), fold or N
    data = Manifest.of(rows({"en": 5, "de": 2}))
    results = evaluated(data, encoder, fold=fold)
    for language, count in (("en", 5), ("de", 2)):
        texts, owner = encoder.encode(data.texts(data.rows_of(language))), np.repeat(np.arange(N), count)
        slices, total = [], 0.0
        for low in range(0, N, size):
            part = (owner >= low) & (owner < low + size)
            slices.append(slow_ranks(texts[part], owner[part] - low, IMAGES[low : low + size]))
        for way, (source, target) in enumerate(((language, "image"), ("image", language))):
            ranks = [both[way] for both in slices]
            for k in (1, 5, 10):
                expected = np.mean([(own < k).mean() for own in ranks])
                found = entry(results, "model", source, target, f"Success@{k}")
                assert found.value == pytest.approx(expected, abs=1e-12)
                total += 100 * expected
            found = entry(results, "model", source, target, "MedR/floor")
            assert found.value == np.mean([np.floor(np.median(own)) + 1 for own in ranks])
            assert found.n_source == len(np.concatenate(ranks))
            assert found.n_target == (size if way == 0 else size * count)
            assert len(found.views.folds or [0]) == N // size
        (rsum,) = by_key(results.summary, measure="rsum", source=language, encoder="model")
        assert rsum.value == pytest.approx(total) and rsum.ci.low < total < rsum.ci.high <= 600
    table = results.per_query.to_pylist()
    for found in results.entries:
        own = [row["value"] for row in table if (row["source"], row["target"], row["measure"]) == (
            found.source, found.target, found.measure
        )]  # fmt: skip
        assert len(own) == found.n_source
        assert found.measure == "MedR/floor" or np.mean(own) == pytest.approx(found.value, abs=1e-12)


def test_items_with_several_images_and_images_of_several_items():
    """Relevant for a caption are the images of its item, for an image the captions of its items."""
    vectors, points_to = np.eye(4, dtype=np.float32), {"a0": 1, "a1": 2, "b1": 1, "c2": 2, "d3": 0}
    data = [
        {"id": name, "lang": "en", "text": name, "item": name[0], "image": png(int(name[1]))}
        for name in points_to
    ]

    class Pointing:
        identity = name = "pointing"

        def encode(self, batch):
            return vectors[[points_to[name] for name in batch.ids]] + 0.1 * vectors[3]

    class Shown:
        identity = name = "shown"

        def encode(self, batch):
            return vectors[[int(name[1]) for name in batch.ids]]

    results = image_sentence(
        Manifest.of(data), Pointing(), image_encoders=Shown(), measures="R@1", store=None
    )
    # a0 points to image 1, which its item shows too; a1 to image 2, wrong; b1, c2 right; d3 to 0, wrong
    assert entry(results, "pointing", *WAYS[0], "Success@1").value == pytest.approx(3 / 5)
    # 0: d3 is nearest, wrong. 1: a0 and b1 tie, both right. 2: a1 and c2 tie, one right. 3: all five tie
    assert entry(results, "pointing", *WAYS[1], "Success@1").value == pytest.approx((1 + 1 / 2 + 1 / 5) / 4)
    queries = [row["query"] for row in results.per_query.to_pylist() if row["source"] == "image"]
    assert queries == ["a0", "a1", "c2", "d3"]  # the first row that shows each image


def test_a_constant_encoder_scores_exactly_chance_and_all_its_queries_are_tied():
    results = evaluated({"en": 3}, Captions("constant", None), measures=("Success@1", "Success@10", "RR"))
    for found in by_key(results.entries, source="image"):  # sentences are all alike
        assert found.value == pytest.approx(found.chance, abs=1e-12) and found.n_tied == N
    assert entry(results, "constant", *WAYS[1], "Success@1").chance == pytest.approx(1 / N)
    assert entry(results, "constant", *WAYS[0], "Success@10").chance == pytest.approx(10 / N)


def test_threads_the_order_of_systems_and_texts_without_images_change_no_number():
    pictures, systems = Pictures(), [Captions("a", 1.0), Captions("b", 2.0)]
    results = evaluated({"en": 3}, *systems, image_encoders=pictures)
    assert pictures.calls == [N]  # encoded once for both
    more = [{"id": f"xx{i}.0", "lang": "en", "text": "no image", "image": None} for i in range(7)]
    with pytest.warns(DataWarning, match="7 of 97 texts take no part"):
        again = evaluated(Manifest.of(rows({"en": 3}) + more), *systems[::-1], threads=2)
    key = ("encoder", "source", "measure", "value", "ci")
    one, other = (
        {tuple(str(getattr(e, name)) for name in key) for e in found.entries} for found in (results, again)
    )
    assert one == other


def test_what_takes_no_part_is_said_or_refused():
    model = Captions("m", 1.0)
    with pytest.warns(DataWarning, match="the last 6 of 30 images with texts in 'en'"):
        results = evaluated({"en": 1}, model, fold=12)
    assert {found.n_source for found in results.entries} == {24}
    more = [{"id": f"de{i}.0", "lang": "de", "text": "ohne Bild", "image": None} for i in range(3)]
    data = Manifest.of(rows({"en": 1}) + more)
    with pytest.warns(DataWarning, match="no text in 'de' belongs to an item with an image: the language"):
        results = evaluated(data, model)
    assert {found.source for found in results.entries} == {"en", "image"}
    with pytest.raises(InputError, match="no text in 'de' belongs to an item with an image"):
        evaluated(data, model, languages=["en", "de"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fold": 1}, "a slice needs two images"),
        ({"fold": 31}, "slices of 31 need 31 images"),
        ({"measures": "Success@30"}, "Success@30 needs more than 30"),
        ({"languages": []}, "no language is named"),
        ({"baselines": "n"}, "no text encoder"),
        ({"image_encoders": []}, "needs the image encoder of its space"),
        ({"image_encoders": [Pictures(), Pictures()]}, "2 image encoders for 1 text encoder"),
        ({"image_encoders": Pictures(IMAGES[:, :5])}, "both must come from"),
    ],
)
def test_what_cannot_be_ranked_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        evaluated({"en": 1}, Captions("m", 1.0), **options)


@st.composite
def sides(draw):
    """Vectors of few different values, so that many tie, and items of which some have one side only."""
    n, m, d = draw(st.integers(1, 14)), draw(st.integers(1, 10)), draw(st.integers(1, 3))
    rng, items = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.integers(1, 8))
    texts, images = (rng.integers(-1, 2, (size, d)).astype(np.float32) for size in (n, m))
    return texts, rng.integers(0, items, n), images, rng.integers(0, items, m)


@settings(max_examples=100)
@given(sides())
def test_ranks_both_ways_equal_a_slow_loop(drawn):
    texts, text_item, images, image_item = drawn
    if not np.isin(text_item, image_item).any():
        with pytest.raises(InputError, match="nothing to rank"):
            rank_both_ways(*drawn)
        return
    scores = np.round(unit(texts) @ unit(images).T, 9)
    right = text_item[:, None] == image_item
    takes_part = right.any(axis=1), right.any(axis=0)
    scores, right = (table[takes_part[0]][:, takes_part[1]] for table in (scores, right))
    for counts, table, answers in zip(
        rank_both_ways(*drawn), (scores, scores.T), (right, right.T), strict=True
    ):
        best = np.where(answers, table, -np.inf).max(axis=1, keepdims=True)
        np.testing.assert_array_equal(counts.above, (table > best).sum(axis=1))
        np.testing.assert_array_equal(counts.tied, (table == best).sum(axis=1))
        np.testing.assert_array_equal(counts.relevant, ((table == best) & answers).sum(axis=1))
        np.testing.assert_array_equal(counts.pool, table.shape[1])


def test_sums_between_two_languages_are_symmetric_and_perfect_for_equal_vectors():
    rng, item = np.random.default_rng(0), np.arange(30) // 2
    vectors, other = (rng.standard_normal((n, 6)).astype(np.float32) for n in (30, 15))
    assert sum_of_recalls_between(vectors, item, vectors, item) == 600
    one = sum_of_recalls_between(vectors, item, other, np.arange(15))
    assert 0 < one < 600
    assert one == pytest.approx(sum_of_recalls_between(other, np.arange(15), vectors, item))
    order = rng.permutation(30)
    assert one == pytest.approx(sum_of_recalls_between(vectors[order], item[order], other, np.arange(15)))
