"""R@k and Success@k: one number where a query has one right answer, two where it has several."""

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.results import by_key

N = 24
SET_RECALL = pytest.warns(DataWarning, match="R@2 is the share of them that is found; .*ask for Success@2")


class Given:
    """Vectors that point to their item, with noise."""

    name = identity = "given"

    def encode(self, batch):
        ideal = np.eye(N)[[int(name.split(".")[0][2:]) for name in batch.ids]]
        drawn = [np.random.default_rng(list(f"{self.name}{name}".encode())) for name in batch.ids]
        noise = np.array([rng.standard_normal(N) for rng in drawn])
        return (ideal + 0.8 * noise).astype(np.float32)


def manifest(texts_de=1):
    """Items with one English text and, every other one, `texts_de` German ones."""
    return Manifest.of(
        [
            {"id": f"{tag}{i}.{c}", "lang": tag, "text": f"{tag} {i} {c}", "item": i}
            for i in range(N)
            for tag, count in (("en", 1), ("de", texts_de if i % 2 else 1))
            for c in range(count)
        ]
    )


def xlr(given, measures=(), **options):
    options = {"pairs": "en-de", "store": None} | options
    return crosslingual_retrieval(given, text_encoders=[Given()], measures=measures, **options)


def values(results):
    return {(e.measure, e.source): e.value for e in results.entries}


@pytest.mark.parametrize("asked", ["Success@2", "R@2", ["hit_rate@2", "recall@2"]])
def test_with_one_target_text_they_are_one_measure_called_recall(asked):
    found = xlr(manifest(), asked)
    assert [e.measure for e in found.entries] == ["R@2"]
    assert found.warnings == [] and "answers:" not in found.entries[0].signature
    assert [e.measure for e in xlr(manifest()).entries] == ["R@10"]
    share = xlr(manifest(), "Success@10%")
    assert [e.measure for e in share.entries] == ["R@10%"]


def test_with_several_the_number_is_the_hit_rate_and_recall_is_set_recall():
    given = manifest(3)
    hits = xlr(given, "Success@2,Success@10%")
    assert not hits.warnings
    with SET_RECALL:
        shares = xlr(given, ["R@2", "R@10%"])
    source, target = given.rows_of("en"), given.rows_of("de")
    left, right = (Given().encode(given.texts(rows)) for rows in (source, target))
    assert len(target) == 48  # 10 % are the first 5
    cosines = (left / np.linalg.norm(left, axis=1)[:, None]) @ (
        right / np.linalg.norm(right, axis=1)[:, None]
    ).T
    order = np.argsort(-cosines, axis=1)
    relevant = np.take_along_axis(given.item[target][None, :] == given.item[source][:, None], order, axis=1)
    for name, k in (("2", 2), ("10%", 5)):
        found = relevant[:, :k].sum(axis=1)
        assert values(hits)[f"Success@{name}", "en"] == pytest.approx((found > 0).mean(), abs=1e-12)
        assert values(shares)[f"R@{name}", "en"] == pytest.approx(
            (found / relevant.sum(axis=1)).mean(), abs=1e-12
        )
        by_query = [row["value"] for row in shares.per_query.to_pylist() if row["measure"] == f"R@{name}"]
        assert by_query == pytest.approx((found / relevant.sum(axis=1)).tolist(), abs=1e-12)
    assert values(hits)["Success@2", "en"] > values(shares)["R@2", "en"]
    assert by_key(shares.entries, measure="R@2")[0].chance == pytest.approx(2 / 48)
    assert "|answers:several|" in shares.entries[0].signature
    assert "answers:" not in hits.entries[0].signature


def test_the_default_keeps_its_value_and_one_name_serves_all_pairs():
    found = xlr(manifest(3), pairs="en-de,de-en")
    assert {e.measure for e in found.entries} == {"Success@10"}
    with pytest.warns(DataWarning):
        named = xlr(manifest(3), "R@10", pairs="en-de,de-en")
    # from German an item has one English text: the two are the same number
    assert values(found)["Success@10", "de"] == values(named)["R@10", "de"]
    assert values(found)["Success@10", "en"] > values(named)["R@10", "en"]
