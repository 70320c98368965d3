"""A study from a manifest: which queries are drawn, what systems suggest, and what is written."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from xlingual import Manifest, backretrieval
from xlingual.embed.sides import TextVectors
from xlingual.errors import DataWarning, InputError
from xlingual.study.folder import read_key, read_study
from xlingual.workflows.study import Layout, new_study
from xlingual.workflows.study_lists import candidates, draw_queries, nearest, proportional, strata_of

ITEMS = 40


class Noisy:
    """Vectors that point to their item, with noise of a size; `far` items share no direction."""

    def __init__(self, name: str, noise: float) -> None:
        self.name, self.identity, self.noise = name, f"noisy:{name}", noise

    def encode(self, batch: Any) -> np.ndarray:
        ideal = np.eye(ITEMS)[[int(row[2:]) for row in batch.ids]]
        rng = np.random.default_rng([int(1000 * self.noise), len(batch)])
        return ideal + self.noise * rng.standard_normal(ideal.shape)


def image(number: int) -> bytes:
    out = BytesIO()
    Image.new("RGB", (12, 9), (number * 6, 255 - number * 6, 99)).save(out, "PNG")
    return out.getvalue()


def rows(**more: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{language}{number}",
            "lang": language,
            "text": f"{language} text {number}",
            "image": image(number),
            "item": number,
            "kind": "rare" if number % 10 == 0 else "common",
        }
        | more
        for number in range(ITEMS)
        for language in ("en", "ru")
    ]


SYSTEMS = {"good": Noisy("good", 0.1), "bad": Noisy("bad", 0.4)}
GIVEN: dict[str, Any] = {"source": "en", "target": "ru", "systems": SYSTEMS, "store": None}


def number_of(text: str) -> int:
    return int(text.split()[-1])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "study"
    layout = Layout(queries=10, by="kind", repeats=0.2, controls=1.0, seed=3)
    new_study(Manifest.of(rows()), folder, **GIVEN, layout=layout, image_encoder="pixels")
    return folder


def test_what_is_written(made: Path) -> None:
    study = read_study(made)
    key = read_key(made, study)
    assert (study.source, study.target, study.per_system, study.raters, study.seed) == ("en", "ru", 5, 3, 3)
    assert study.by == "kind" and Counter(q.stratum for q in study.queries) == {"common": 9, "rare": 1}
    assert study.title == "Which Russian texts are relevant to these English texts?"
    assert all(len(order) == 12 for order in study.orders)
    assert dict(key.systems) == {"good": "noisy:good", "bad": "noisy:bad"}
    assert (made / "title.md").read_text().startswith(f"# {study.title}\n")
    images = {one.image for query in study.queries for one in (query.shown, *query.suggestions)}
    assert {path.name for path in (made / "images").iterdir()} == images


def test_each_system_suggests_its_nearest_texts(made: Path) -> None:
    study = read_study(made)
    key = read_key(made, study)
    manifest = Manifest.of(rows())
    pool = manifest.rows_of("ru")
    asked = np.array([manifest.ids.index(f"en{number_of(q.shown.text)}") for q in study.queries])
    used = np.union1d(asked, pool)
    for name, encoder in SYSTEMS.items():
        vectors = np.full((len(manifest), ITEMS), np.nan)
        vectors[used] = encoder.encode(manifest.texts(used))
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        for query, row in zip(study.queries, asked, strict=True):
            cosine = unit[pool] @ unit[row]
            best = np.argsort(-cosine)[:5]
            found = sorted(
                (credit.rank, number_of(one.text), credit.cosine)
                for one in query.suggestions
                for credit in key.credits.get(one.id, ())
                if credit.system == name
            )
            assert [text for _, text, _ in found] == [number_of(manifest.text[pool[i]]) for i in best]
            assert [value for _, _, value in found] == pytest.approx(cosine[best], abs=1e-6)


def test_controls_are_of_other_strata_or_the_querys_own(made: Path) -> None:
    study = read_study(made)
    key = read_key(made, study)
    kinds = Counter()
    for query in study.queries:
        for one in query.suggestions:
            score = key.controls.get(one.id)
            kinds[score] += score is not None
            if score == 1:
                assert number_of(one.text) == number_of(query.shown.text)
            if score == 4:
                stratum = "rare" if number_of(one.text) % 10 == 0 else "common"
                assert stratum != query.stratum and number_of(one.text) != number_of(query.shown.text)
    assert kinds[4] >= 4


def test_controls_where_all_queries_are_of_one_stratum(tmp_path: Path) -> None:
    layout = Layout(queries=4, by="kind", controls=1.0)
    study = new_study(
        Manifest.of([row | {"kind": "one"} for row in rows()]), tmp_path / "s", **GIVEN, layout=layout
    )
    assert list(read_key(tmp_path / "s", study).controls.values()).count(4) == 4


def test_backretrieval_of_the_queries_is_in_the_key(made: Path) -> None:
    study = read_study(made)
    key = read_key(made, study)
    assert key.bkr_measure == "R@10"
    assert set(key.bkr) == set(SYSTEMS)
    ids = {query.shown.id for query in study.queries}
    assert all(set(values) == ids and set(values.values()) <= {0.0, 1.0} for values in key.bkr.values())


def test_backretrieval_of_all_items_is_that_of_the_evaluation(tmp_path: Path) -> None:
    """With items of one language each, all are sources or targets: the same sample as any evaluation's."""
    one_language = [row for row in rows() if (row["lang"] == "en") == (row["item"] < 20)]
    manifest = Manifest.of(one_language)
    study = new_study(manifest, tmp_path / "s", **GIVEN, layout=Layout(queries=20), image_encoder="pixels")
    given = {"image_encoder": "pixels", "store": None, "examples": False}
    results = backretrieval(manifest, text_encoders=SYSTEMS, pairs="en-ru", **given)
    wanted = {
        (row["encoder"], row["query"]): row["value"]
        for row in results.per_query.to_pylist()
        if row["measure"] == "R@10"
    }
    key = read_key(tmp_path / "s", study)
    found = {
        (name, f"en{number_of(query.shown.text)}"): key.bkr[name][query.shown.id]
        for name in SYSTEMS
        for query in study.queries
    }
    assert found == wanted and len(set(found.values())) == 2


def test_the_same_seed_gives_the_same_texts_and_orders(tmp_path: Path) -> None:
    manifest = Manifest.of(rows())
    studies = [
        new_study(manifest, tmp_path / name, **GIVEN, layout=Layout(queries=4, seed=seed))
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert studies[0].queries == studies[1].queries and studies[0].orders == studies[1].orders
    assert {q.shown.text for q in studies[0].queries} != {q.shown.text for q in studies[2].queries}


def test_the_own_item_is_left_out_where_asked_for(tmp_path: Path) -> None:
    manifest = Manifest.of(rows())
    own = {}
    for exclude in (False, True):
        folder = tmp_path / str(exclude)
        study = new_study(manifest, folder, **GIVEN, layout=Layout(queries=10, exclude_own=exclude))
        key = read_key(folder, study)
        assert sum(credit.system == "good" for made in key.credits.values() for credit in made) == 50
        own[exclude] = sum(
            number_of(one.text) == number_of(query.shown.text)
            for query in study.queries
            for one in query.suggestions
        )
    assert own == {False: 10, True: 0}


def test_texts_alone(tmp_path: Path) -> None:
    study = new_study(Manifest.of(rows()), tmp_path / "s", **GIVEN, layout=Layout(queries=2, pictures=False))
    assert all(one.image is None for query in study.queries for one in (query.shown, *query.suggestions))
    assert not (tmp_path / "s/images").exists()


def test_queries_are_of_different_items_and_texts() -> None:
    twice = [
        row | {"id": f"{row['id']}{suffix}", "text": row["text"] + suffix * (row["item"] > 5)}
        for row in rows()
        for suffix in ("", "x")
    ]
    manifest = Manifest.of([row | {"text": "same"} if row["item"] in (1, 2) else row for row in twice])
    drawn = draw_queries(manifest, "en", 39, seed=0)
    assert len({int(manifest.item[row]) for row in drawn}) == len({manifest.text[row] for row in drawn}) == 39
    with pytest.raises(InputError, match="has 39 items"):
        draw_queries(manifest, "en", 40, seed=0)


def test_items_are_as_likely_as_each_other_whatever_their_number_of_texts() -> None:
    many = [
        row | {"id": f"{row['id']}-{n}", "text": f"{row['text']} {n}"} for row in rows() for n in range(9)
    ]
    manifest = Manifest.of([row for row in many if row["item"] == 0 or row["id"].endswith("-0")])
    drawn = Counter(
        int(manifest.item[row]) == 0 for seed in range(400) for row in draw_queries(manifest, "en", 10, seed)
    )
    assert 70 <= drawn[True] <= 130  # 400 draws of 10 out of 40: 100 on average, standard deviation 9
    texts = {manifest.text[row] for seed in range(99) for row in draw_queries(manifest, "en", 40, seed)}
    assert sum(text.startswith("en text 0 ") for text in texts) == 9


def test_equal_texts_with_equal_images_are_one_candidate() -> None:
    doubled = [row | {"text": f"{row['lang']} same {row['item'] // 2}", "image": image(0)} for row in rows()]
    with pytest.warns(DataWarning, match="empty"):
        manifest = Manifest.of([row | ({"text": " "} if row["item"] == 7 else {}) for row in doubled])
    pool = candidates(manifest, "ru")
    assert len({manifest.text[row] for row in pool}) == len(pool) == ITEMS // 2
    other = Manifest.of([row | {"image": image(row["item"])} for row in doubled])
    assert len(candidates(other, "ru")) == ITEMS
    assert len(candidates(other, "ru", images=False)) == ITEMS // 2


def test_a_text_equal_to_the_own_one_is_left_out_with_it() -> None:
    manifest = Manifest.of(
        [row | ({"text": "same"} if row["id"] in ("ru3", "ru8") else {}) for row in rows()]
    )
    used = np.arange(len(manifest))
    vectors = TextVectors(SYSTEMS["good"].encode(manifest.texts(used)).astype(np.float32), used)
    pool, query = candidates(manifest, "ru"), np.array([manifest.ids.index("en8")])
    for exclude in (False, True):
        best = nearest(manifest, vectors, query, pool, 38, exclude_own=exclude)[0]
        assert ("same" in {manifest.text[row] for row in best.rows}) is not exclude


@pytest.mark.parametrize(
    ("sizes", "count", "expected"),
    [
        ({"a": 50, "b": 50}, 5, {"a": 3, "b": 2}),
        ({"a": 1, "b": 99}, 20, {"a": 0, "b": 20}),
        ({"a": 10}, 10, {"a": 10}),
        ({"a": 3, "b": 3, "c": 3}, 9, {"a": 3, "b": 3, "c": 3}),
    ],
)
def test_strata_get_their_shares(sizes: dict[str, int], count: int, expected: dict[str, int]) -> None:
    assert proportional(sizes, count) == expected


def test_rows_without_a_label_are_a_stratum() -> None:
    manifest = Manifest.of([row | {"kind": "a" if row["item"] % 2 else None} for row in rows()])
    strata = strata_of(manifest, "kind")
    assert strata is not None and set(strata) == {"a", "(none)"}
    drawn = draw_queries(manifest, "en", 10, 0, strata)
    assert Counter(strata[row] for row in drawn) == {"a": 5, "(none)": 5}


def test_ties_are_broken_at_random_and_alike_for_all_systems() -> None:
    """A constant encoder suggests texts drawn from the whole pool, and the same for every query."""
    manifest = Manifest.of(rows())
    vectors = TextVectors(np.ones((len(manifest), 3), dtype=np.float32), np.arange(len(manifest)))
    queries, pool = manifest.rows_of("en")[:6], manifest.rows_of("ru")
    drawn: Counter[int] = Counter()
    for seed in range(60):
        lists = nearest(manifest, vectors, queries, pool, 5, seed=seed)
        assert all((best.rows == lists[0].rows).all() and len(set(best.rows)) == 5 for best in lists)
        assert all(best.cosine == pytest.approx(1) for best in lists)
        drawn.update(lists[0].rows.tolist())
    assert len(drawn) > 35 and max(drawn.values()) < 20  # 300 draws over 40 texts: 7.5 each on average
