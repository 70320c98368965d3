"""Similarities with a bank of training queries: what is in the bank, and what is ranked."""

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from zlib import crc32

import ir_measures
import numpy as np
import pytest
from ir_measures import RR

from xlingual import crosslingual_retrieval
from xlingual.errors import InputError

PAPERS = run_path(str(Path(__file__).parents[1] / "ranking" / "test_hubs.py"))["PAPERS"]
WRITTEN = {"csls": "csls?k=4", "inverted-softmax": "inverted-softmax?beta=9"}
N, TRAIN, D = 60, 24, 6


class Vectors:
    """Noisy vectors of items, which the ids name ("i3.de"), of texts in their language."""

    identity = "noisy"

    def encode(self, batch):
        ideal = np.random.default_rng(5).standard_normal((N, D))
        rows = []
        for tag, own in zip(batch.language, batch.ids, strict=True):
            rng = np.random.default_rng(crc32(f"{tag}{own}".encode()))
            rows.append(ideal[int(own.rpartition(".")[0][1:])] + 0.8 * rng.standard_normal(D))
        return np.array(rows, dtype=np.float32)


def vectors_of(tag, ids):
    return Vectors().encode(SimpleNamespace(language=[tag] * len(ids), ids=ids))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a manifest of which every item but the first 36 is for training."""
    parts = ["test"] * (N - TRAIN) + ["train"] * TRAIN
    rows = [
        {"id": f"i{i}.{tag}", "lang": tag, "text": f"{tag} {i}", "item": str(i), "split": part}
        for i, part in enumerate(parts)
        for tag in ("en", "de")
    ]
    path = tmp_path_factory.mktemp("data") / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ids_of(tag, train):
    return [f"i{i}.{tag}" for i in (range(N - TRAIN, N) if train else range(N - TRAIN))]


def scores(name, source, target):
    """Return the paper's scores of the test items, whose bank are the train items of the source's side."""
    x, b = (vectors_of(source, ids_of(source, train)) for train in (False, True))
    return PAPERS[name](x, vectors_of(target, ids_of(target, False)), b)


def reciprocal_ranks(found):
    own = np.diagonal(found)[:, None]
    return 1 / ((found > own).sum(axis=1) + 1)


def xlr(data, **options):
    given = {"text_encoders": Vectors(), "measures": "RR", "store": None, "split": "test"} | options
    return crosslingual_retrieval(data, **given)


@pytest.mark.parametrize("name", PAPERS)
def test_crosslingual_retrieval_ranks_by_the_papers_scores(data, name, tmp_path):
    """The bank of each direction are the training texts in the language of its queries."""
    found = xlr(data, similarity=f"{WRITTEN[name]}&fit={data}#train", trec=tmp_path, trec_depth=None)
    table = found.per_query.to_pylist()
    for source, target in (("en", "de"), ("de", "en")):
        expected = reciprocal_ranks(scores(name, source, target))
        own = [row["value"] for row in table if row["source"] == source]
        assert own == pytest.approx(expected, abs=1e-12)
        run = list(ir_measures.read_trec_run(str(tmp_path / f"{source}-{target}" / "Vectors.run")))
        qrels = list(ir_measures.read_trec_qrels(str(tmp_path / f"{source}-{target}" / "qrels.txt")))
        assert ir_measures.calc_aggregate([RR], qrels, run)[RR] == pytest.approx(expected.mean(), abs=1e-9)
    assert xlr(data).entries[0].value != found.entries[0].value
    nearest = [row for row in found.tables["neighbours"].to_pylist() if row["source"] == "en"]
    first = {row["query"]: row["neighbour"] for row in nearest if row["above"] == 0}
    best = [ids_of("de", False)[place] for place in scores(name, "en", "de").argmax(axis=1)]
    assert list(first.values()) == best


def test_languages_that_the_bank_lacks(data):
    """A direction without any is refused."""
    lines = [line for line in data.read_text().splitlines() if '"train"' in line and '"lang": "en"' in line]
    bank = data.parent / "en.jsonl"
    bank.write_text("\n".join(lines))
    assert xlr(data, similarity=f"csls?fit={bank}", pairs="en-de").entries
    with pytest.raises(InputError, match="training queries are in en, and those that are evaluated in de"):
        xlr(data, similarity=f"csls?fit={bank}", pairs="de-en")
