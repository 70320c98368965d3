"""The evaluation from a manifest: against slow loops, by hand, and what results hold."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual import DataWarning, Manifest, compare, image_sentence
from xlingual.results import Entry, Results, by_key

_SPEC = importlib.util.spec_from_file_location("ranking_data", Path(__file__).with_name("data.py"))
assert _SPEC is not None and _SPEC.loader is not None
data = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(data)

N = 30
IMAGES = data.images(N)


def run(manifest: Manifest, *texts: Any, **options: Any) -> Results:
    options = {"image_encoders": data.Images(IMAGES), "store": None} | options
    return image_sentence(manifest, text_encoders=list(texts), **options)


def value(results: Results, encoder: str, source: str, target: str, measure: str) -> Entry:
    (found,) = by_key(results.entries, encoder=encoder, source=source, target=target, measure=measure)
    return found


def slow_ranks(texts: np.ndarray, owner: list[int], images: np.ndarray) -> tuple[list[int], list[int]]:
    """Return ranks from 0 of sentence → image and of image → sentence, by sorting in float64."""
    unit = [
        v.astype(np.float64) / np.linalg.norm(v.astype(np.float64), axis=1)[:, None] for v in (texts, images)
    ]
    scores = unit[0] @ unit[1].T
    to_image = [int(np.argsort(-row).tolist().index(o)) for row, o in zip(scores, owner, strict=True)]
    to_sentence = []
    for image in range(len(images)):
        order = np.argsort(-scores[:, image]).tolist()
        to_sentence.append(min(order.index(t) for t, o in enumerate(owner) if o == image))
    return to_image, to_sentence


@pytest.mark.parametrize("fold", [None, 15])
def test_all_numbers_equal_slow_loops(fold: int | None) -> None:
    manifest, encoder = data.manifest(N, {"en": 5, "de": 2}), data.Captions("model", IMAGES, 1.0)
    results = run(manifest, encoder, fold=fold)
    for language, count in (("en", 5), ("de", 2)):
        texts = encoder.encode(manifest.texts(manifest.rows_of(language)))
        owner = np.repeat(np.arange(N), count)
        size = fold or N
        slices = [
            slow_ranks(
                texts[(owner >= low) & (owner < low + size)],
                (owner[(owner >= low) & (owner < low + size)] - low).tolist(),
                IMAGES[low : low + size],
            )
            for low in range(0, N, size)
        ]
        total = 0.0
        for way, (source, target) in enumerate(((language, "image"), ("image", language))):
            ranks = [np.array(one[way]) for one in slices]
            for k in (1, 5, 10):
                expected = np.mean([(r < k).mean() for r in ranks])
                total += 100 * expected
                assert value(results, "model", source, target, f"Success@{k}").value == pytest.approx(
                    expected, abs=1e-12
                )
            expected = np.mean([np.floor(np.median(r)) + 1 for r in ranks])
            entry = value(results, "model", source, target, "MedR/floor")
            assert entry.value == expected
            assert entry.n_source == len(np.concatenate(ranks))
            assert entry.n_target == (size if way == 0 else size * count)
            if fold:
                assert entry.views is not None and len(entry.views.folds) == N // fold
        (rsum,) = by_key(results.summary, measure="rsum", source=language, encoder="model")
        assert rsum.value == pytest.approx(total)
        assert rsum.ci is not None and rsum.ci.low < total < rsum.ci.high <= 600


def test_items_with_several_images_and_images_of_several_items() -> None:
    """Relevant for a caption are the images of its item, for an image the captions of its items."""
    vectors = np.eye(4, dtype=np.float32)
    rows = [
        {"id": "a0.0", "lang": "en", "text": "a", "item": "a", "image": data.png(0)},
        {"id": "a1.0", "lang": "en", "text": "b", "item": "a", "image": data.png(1)},
        {"id": "b1.0", "lang": "en", "text": "c", "item": "b", "image": data.png(1)},
        {"id": "c2.0", "lang": "en", "text": "d", "item": "c", "image": data.png(2)},
        {"id": "d3.0", "lang": "en", "text": "e", "item": "d", "image": data.png(3)},
    ]

    class Swapped:
        identity = name = "swapped"

        def encode(self, batch: Any) -> np.ndarray:
            place = {"a0.0": 1, "a1.0": 2, "b1.0": 1, "c2.0": 2, "d3.0": 0}
            found: np.ndarray = vectors[[place[i] for i in batch.ids]] + 0.1 * vectors[3]
            return found

    class Shown:
        identity = name = "shown"

        def encode(self, batch: Any) -> np.ndarray:
            found: np.ndarray = vectors[[int(i[1]) for i in batch.ids]]
            return found

    results = image_sentence(
        Manifest.of(rows), text_encoders=Swapped(), image_encoders=Shown(), measures="R@1", store=None
    )
    # a0 points to image 1, which its item shows too; a1 to image 2, wrong; b1, c2 right; d3 to 0, wrong
    assert value(results, "swapped", "en", "image", "Success@1").value == pytest.approx(3 / 5)
    # 0: d3 is nearest, wrong. 1: a0 and b1 tie, both right. 2: a1 and c2 tie, one right. 3: all five tie
    assert value(results, "swapped", "image", "en", "Success@1").value == pytest.approx(
        (0 + 1 + 1 / 2 + 1 / 5) / 4
    )
    queries = results.per_query.filter([r == "image" for r in results.per_query["source"].to_pylist()])[
        "query"
    ].to_pylist()
    assert queries == ["a0.0", "a1.0", "c2.0", "d3.0"]  # the first row that shows each image


def test_a_constant_encoder_scores_exactly_chance_and_all_its_queries_are_tied() -> None:
    results = run(
        data.manifest(N, {"en": 3}),
        data.Captions("constant", IMAGES, None),
        measures=("Success@1", "Success@10", "RR"),
    )
    for entry in results.entries:
        if entry.source == "image":  # sentences are all alike
            assert entry.value == pytest.approx(entry.chance, abs=1e-12)
            assert entry.n_tied == N
    assert value(results, "constant", "image", "en", "Success@1").chance == pytest.approx(1 / N)
    assert value(results, "constant", "en", "image", "Success@10").chance == pytest.approx(10 / N)


def test_a_system_is_evaluated_on_its_own_languages_only() -> None:
    manifest = data.manifest(N, {"en": 2, "de": 2})
    results = run(
        manifest,
        data.Captions("vse-en", IMAGES, 1.5, ("en",)),
        data.Captions("vse-de", IMAGES, 1.5, ("de", "fr")),
        data.Captions("both", IMAGES, 0.8),
        baselines=("vse-en", "vse-de"),
    )
    own = {
        (entry.encoder, language) for entry in results.entries for language in (entry.source, entry.target)
    }
    assert own == {
        *(("vse-en", tag) for tag in ("en", "image")),
        *(("vse-de", tag) for tag in ("de", "image")),
        *(("both", tag) for tag in ("en", "de", "image")),
    }
    for language in ("en", "de"):
        for source, target in ((language, "image"), ("image", language)):
            ahead = value(results, "both", source, target, "Success@1").views
            assert ahead is not None and ahead.against.baseline == f"vse-{language}"
            base = value(results, f"vse-{language}", source, target, "Success@1")
            assert base.views.against is None
            both = value(results, "both", source, target, "Success@1").value
            assert both is not None and base.value is not None
            assert ahead.against.value == pytest.approx(both - base.value)
    (overall,) = by_key(results.summary, encoder="vse-en", source=None, measure="Success@1")
    assert overall.note is not None and "en only" in overall.note and overall.behind is None


def test_the_difference_to_a_system_itself_is_zero_and_its_interval_contains_zero() -> None:
    manifest = data.manifest(N, {"en": 2})
    one = data.Captions("one", IMAGES, 1.0)
    other = data.Captions("other", IMAGES, 1.0)
    results = run(manifest, one, other, baselines="one")
    rows = [entry for entry in results.entries if entry.encoder == "other"]
    rows += [
        row for row in results.summary if row.encoder == "other" and row.measure == "rsum" and row.source
    ]
    assert len(rows) == 9
    for row in rows:
        assert row.views is not None
        against = row.views.against
        assert against.value == 0
        assert against.ci.low <= 0 <= against.ci.high


def test_the_interval_of_a_difference_of_medians_follows_a_plain_bootstrap() -> None:
    manifest = data.manifest(N, {"en": 3})
    results = run(
        manifest, data.Captions("good", IMAGES, 1.5), data.Captions("bad", IMAGES, 4.0), baselines="good"
    )
    entry = value(results, "bad", "en", "image", "MedR/floor")
    assert entry.views is not None
    against = entry.views.against
    table = results.per_query.to_pylist()
    ranks = {
        name: np.array([
            row["value"] for row in table
            if (row["encoder"], row["source"], row["measure"]) == (name, "en", "MedR/floor")
        ]).reshape(N, 3)
        for name in ("good", "bad")
    }  # fmt: skip
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(2000):
        rows = rng.integers(0, N, N)
        medians = [np.floor(np.median(ranks[name][rows]) - 1) + 1 for name in ("bad", "good")]
        drawn.append(medians[0] - medians[1])
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert against.value > 0
    assert abs(against.ci.low - low) <= 1 and abs(against.ci.high - high) <= 1


def test_the_values_of_the_queries_make_the_entries_and_can_be_compared(tmp_path: Path) -> None:
    manifest = data.manifest(N, {"en": 2, "de": 1})
    results = run(manifest, data.Captions("good", IMAGES, 0.5), data.Captions("bad", IMAGES, 3.0))
    table = results.per_query.to_pylist()
    for entry in results.entries:
        own = [
            row["value"]
            for row in table
            if all(
                row[key] == getattr(entry, key) for key in ("encoder", "source", "target", "measure", "seed")
            )
        ]
        assert len(own) == entry.n_source
        if entry.measure != "MedR/floor":
            assert np.mean(own) == pytest.approx(entry.value, abs=1e-12)
    results.write(tmp_path)
    board = compare([tmp_path], measures=["R@1"]).boards[0]
    assert (board.measure, board.rows[0].encoder) == ("Success@1", "good")
    kept = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    again = Results.read(tmp_path)
    assert (
        again.to_dict() == {key: kept[key] for key in kept if key != "files"}
        and again.entries == results.entries
        and again.summary == results.summary
    )


def test_thread_counts_and_the_order_of_systems_change_no_number() -> None:
    manifest = data.manifest(N, {"en": 3})
    a, b = data.Captions("a", IMAGES, 1.0), data.Captions("b", IMAGES, 2.0)
    one = {(e.encoder, e.source, e.measure): (e.value, e.ci) for e in run(manifest, a, b).entries}
    two = {(e.encoder, e.source, e.measure): (e.value, e.ci) for e in run(manifest, b, a, threads=2).entries}
    assert one == two


def test_texts_without_a_image_take_no_part_and_are_counted() -> None:
    rows = data.rows(N, {"en": 2})
    whole = run(Manifest.of(rows), data.Captions("m", IMAGES, 1.0))
    without = [{"id": f"xx{i}.0", "lang": "en", "text": "no image", "image": None} for i in range(7)]
    with pytest.warns(DataWarning, match="7 of 67 texts take no part: their item has no image"):
        results = run(Manifest.of(rows + without), data.Captions("m", IMAGES, 1.0))
    assert [e.value for e in results.entries] == [e.value for e in whole.entries]


def test_an_incomplete_last_slice_is_left_out() -> None:
    with pytest.warns(DataWarning, match="the last 6 of 30 images with texts in 'en'"):
        results = run(data.manifest(N, {"en": 1}), data.Captions("m", IMAGES, 1.0), fold=12)
    assert {entry.n_source for entry in results.entries} == {24}


def test_vectors_without_images_in_the_manifest(tmp_path: Path) -> None:
    """As with a test set of which only the vectors of the images are to be had."""
    rows = [{"id": f"p{i}", "text_en_1": f"one {i}", "text_en_2": f"two {i}"} for i in range(N)]
    np.save(tmp_path / "images.npy", IMAGES)
    np.save(tmp_path / "texts.en.npy", np.repeat(IMAGES, 2, axis=0))
    results = image_sentence(
        Manifest.of(rows),
        text_encoders=str(tmp_path / "texts.{lang}.npy"),
        image_encoders=str(tmp_path / "images.npy"),
        store=None,
    )
    assert [
        value(results, "texts", *way, "Success@1").value for way in (("en", "image"), ("image", "en"))
    ] == [
        1,
        1,
    ]
    assert [
        value(results, "texts", *way, "Success@1").n_source for way in (("en", "image"), ("image", "en"))
    ] == [
        60,
        30,
    ]


def test_an_image_encoder_of_several_systems_encodes_once() -> None:
    calls = []

    class Counting(data.Images):  # type: ignore[misc, name-defined]
        def encode(self, batch: Any) -> np.ndarray:
            calls.append(len(batch))
            found: np.ndarray = super().encode(batch)
            return found

    manifest = data.manifest(N, {"en": 2})
    texts = [data.Captions(name, IMAGES, 1.0) for name in "ab"]
    run(manifest, *texts, image_encoders=Counting(IMAGES))
    assert calls == [N]


def test_systems_that_tell_different_images_apart_are_not_paired() -> None:
    """Without bytes images are distinct by their vectors: an encoder that merges some has other queries."""

    class Vectors(data.Images):  # type: ignore[misc, name-defined]
        opens_images = False

    merging = IMAGES.copy()
    merging[1] = merging[0]
    rows = [{key: value for key, value in row.items() if key != "image"} for row in data.rows(N, {"en": 2})]
    for row in rows:
        row["item"] = row["id"].split(".")[0]
    results = run(
        Manifest.of(rows),
        data.Captions("a", IMAGES, 0.5),
        data.Captions("b", IMAGES, 2.0),
        image_encoders=[Vectors(IMAGES), Vectors(merging)],
        baselines="a",
    )
    against = [entry.views.against for entry in results.entries if entry.encoder == "b" and entry.views]
    assert len(against) == 8 and all(view.ci is None for view in against)
    assert all(row.behind is None for row in results.summary)
    assert value(results, "b", "image", "en", "Success@1").n_source == N - 1


@pytest.mark.parametrize("languages", [{}, {"en": 0}, (), "en", None])
def test_what_is_no_list_of_languages_limits_nothing(languages: Any) -> None:
    results = run(data.manifest(N, {"en": 1, "de": 1}), data.Captions("m", IMAGES, 1.0, languages))
    assert {entry.source for entry in results.entries} == {"en", "de", "image"}
