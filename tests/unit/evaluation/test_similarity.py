"""CSLS as the similarity of an evaluation: where it is named, what is compared, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual import Manifest, compare
from xlingual.errors import DataWarning, InputError
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.image_sentence import rank_both_ways
from xlingual.evaluation.image_sentence.ranks import ranked_pairs
from xlingual.ranking import Csls, Offsets, Pool, Reduction
from xlingual.report.pages.evaluation import page
from xlingual.report.render.text import as_text
from xlingual.results import Results
from xlingual.signature import Signature

N = 40
pytestmark = pytest.mark.filterwarnings("ignore:similarity 'transductive-csls")


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return Manifest.from_rows([{"id": f"r{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(N)])


class Hubby:
    """An encoder of two languages that stand apart, with one German text that lies between them: a hub."""

    identity = "hubby"

    def encode(self, batch: Any) -> np.ndarray:
        own = np.random.default_rng(0).standard_normal((N, 7))
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        sides = {"en": 0.7, "de": -0.7}
        rows = [
            [1.0, *np.zeros(7)] if (tag, row) == ("de", "r0") else [sides[tag], *own[int(row[1:])]]
            for tag, row in zip(batch.language, batch.ids, strict=True)
        ]
        return np.array(rows, dtype=np.float32)


def xlr(manifest: Manifest, **options: Any) -> Results:
    given = {"pairs": "en-de", "measures": "R@1", "store": None, "text_encoders": Hubby()} | options
    return crosslingual_retrieval(manifest, **given)


def test_the_similarity_is_a_part_of_the_system(manifest: Manifest, tmp_path: Path) -> None:
    """Signatures of cosine are what they were; results with CSLS are another system, and comparable."""
    runs = {name: xlr(manifest, similarity=name) for name in ("cosine", "transductive-csls")}
    assert xlr(manifest).entries == runs["cosine"].entries
    own, other = (Signature.parse(run.entries[0].signature) for run in runs.values())
    assert "similarity" not in own.system and "similarity" not in own.conditions
    assert other.system == {**own.system, "similarity": "transductive-csls?k=10"}
    assert own.differences(other) == []
    for name, run in runs.items():
        run.write(tmp_path / name)
    outcome = compare([tmp_path / name for name in runs])
    assert {row.encoder.partition("#")[0] for row in outcome.boards[0].rows} == {
        "cosine",
        "transductive-csls",
    }


def test_a_hub_is_repaired(manifest: Manifest) -> None:
    """With cosine the hub is everybody's nearest text; with CSLS every text finds its match."""
    assert xlr(manifest).entries[0].value == 1 / N
    assert xlr(manifest, similarity="transductive-csls").entries[0].value > 0.9


def test_queries_that_take_part_in_each_others_scores_are_warned_of(manifest: Manifest) -> None:
    with pytest.warns(
        DataWarning, match=r"evaluated take part in .* csls\?k=7&fit=FILE#train takes training"
    ):
        found = xlr(manifest, similarity="transductive-csls?k=7")
    assert len(found.warnings) == 1


@pytest.mark.parametrize("queries", [None, 9])
def test_the_query_set_is_that_of_the_sample(manifest: Manifest, queries: int | None) -> None:
    """With --queries a candidate's offset is its nearness to these queries alone."""
    found = xlr(manifest, similarity="transductive-csls?k=3", queries=queries).per_query.to_pylist()
    vectors = {
        tag: Hubby().encode(manifest.texts(manifest.rows_of(tag))).astype(np.float64) for tag in ("en", "de")
    }
    unit = {tag: v / np.linalg.norm(v, axis=1, keepdims=True) for tag, v in vectors.items()}
    asked = sorted(int(row["query"].split("/")[0].lstrip("r")) for row in found)
    cosines = unit["en"][asked] @ unit["de"].T
    back = np.sort(cosines, axis=0)[-3:].mean(axis=0)
    best = (2 * cosines - back).argmax(axis=1)
    assert len(found) == (queries or N)
    assert [row["value"] for row in found] == [float(b == q) for b, q in zip(best, asked, strict=True)]


def test_a_repair_of_ones_own(manifest: Manifest) -> None:
    """Whatever has a name and a request serves: here all candidates are as they are, but one is taken off."""

    class Without:
        """Puts one candidate below all others."""

        name = "without-the-first"

        def request(self, queries: np.ndarray, candidates: np.ndarray) -> Any:
            offsets = Offsets(1, np.zeros_like(queries), np.where(np.arange(len(candidates)) == 0, 10**10, 0))

            class Known:
                reductions: tuple[Reduction, ...] = ()

                def result(self, similarity: Any) -> Offsets:
                    return offsets

            return Known()

    found = xlr(manifest, similarity=Without())
    assert Signature.parse(found.entries[0].signature).system["similarity"] == "without-the-first"
    assert found.entries[0].value > xlr(manifest).entries[0].value
    assert found.request["similarity"] == "without-the-first"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("csl", "'csl' is not known: expected cosine, csls\\?fit=FILE#train, .* Did you mean 'csls'"),
        ("transductive-csls?k=0", "k, a whole number of nearest texts, 1 at least: write tran.*csls\\?k=10"),
        ("transductive-csls?n=4", "transductive-csls has k"),
        ("csls?k=0&fit=x", "csls has k, .*; fit, the training queries"),
        ("inverted-softmax?beta=0&fit=x", "beta, a number from 0.001 to 10000"),
        ("inverted-softmax?beta=nan&fit=x", "beta, a number from 0.001 to 10000"),
        ("qb-norm?beta=20&beta=3&fit=x", "write qb-norm\\?beta=20&k=10&fit=FILE#train"),
        ("mutual-proximity?k=3&fit=x", "mutual-proximity has fit"),
        ("local-scaling?k", "write local-scaling\\?k=10&fit=FILE#train"),
        ("csls", "csls\\?fit=FILE#train; or write transductive-csls\\?k=10, which takes the queries that"),
        ("csls?k=4", "csls\\?k=4&fit=FILE#train; or write transductive-csls\\?k=4"),
        ("qb-norm", "name training queries, which are not evaluated: qb-norm\\?fit=FILE#train$"),
        ("cosine?k=3", "'cosine\\?k=3' is not known"),
        (3, "an object with `name` and `request`, found int"),
    ],
)
def test_what_is_no_similarity_is_refused(manifest: Manifest, given: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        xlr(manifest, similarity=given)


def test_both_ways_between_texts_and_images() -> None:
    """Image-sentence ranking: one set of scores, symmetric, for both ways; the best caption counts."""
    rng = np.random.default_rng(5)
    texts, images = (rng.integers(-1, 2, (size, 3)).astype(np.float32) for size in (24, 12))
    item = np.arange(24) // 2
    cosines = np.rint(_cosines(texts, images) * 1e9)
    r_text = np.rint(np.sort(cosines, axis=1)[:, -4:].mean(axis=1))
    r_image = np.rint(np.sort(cosines, axis=0)[-4:].mean(axis=0))
    scores = 2 * cosines - r_text[:, None] - r_image
    ranked = ranked_pairs(Pool.of(texts), Pool.of(images), np.arange(24), item, repairs=(Csls(4), Csls(4)))
    to_image, to_sentence = ranked.ways
    own = scores[np.arange(24), item]
    assert to_image.above.tolist() == (scores > own[:, None]).sum(axis=1).tolist()
    assert to_image.tied.tolist() == (scores == own[:, None]).sum(axis=1).tolist()
    best = own.reshape(12, 2).max(axis=1)
    assert to_sentence.above.tolist() == (scores > best).sum(axis=0).tolist()
    assert to_sentence.tied.tolist() == (scores == best).sum(axis=0).tolist()
    plain, _ = rank_both_ways(texts, item, images, np.arange(12))
    assert plain.above.tolist() != to_image.above.tolist()


def _cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    wide = [side.astype(np.float64) for side in (left, right)]
    sides = [side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-30) for side in wide]
    return np.asarray(sides[0] @ sides[1].T)


def test_the_report_names_it(manifest: Manifest, tmp_path: Path) -> None:
    """A sentence says what ranked, where it is not cosine."""
    given = ("cosine", "transductive-csls?k=7")
    texts = {name: as_text(page(xlr(manifest, similarity=name)), "markdown") for name in given}
    assert "Ranked by" not in texts["cosine"]
    words = " ".join(texts["transductive-csls?k=7"].split())
    assert "Ranked by transductive-csls?k=7, not by cosine: hubs are repaired." in words
