"""Similarities with a bank of training queries: what is in the bank, and what is ranked."""

import json
from pathlib import Path
from runpy import run_path
from zlib import crc32

import ir_measures
import numpy as np
import pytest
from ir_measures import RR

from xlingual import (
    backretrieval,
    crosslingual_retrieval,
)
from xlingual.errors import InputError
from xlingual.signature import Signature

PAPERS = run_path(str(Path(__file__).parents[1] / "ranking" / "test_hubs.py"))["PAPERS"]
WRITTEN = {
    "csls": "csls?k=4",
    "inverted-softmax": "inverted-softmax?beta=9",
}
N, TRAIN, D = 60, 24, 6
BOTH = pytest.mark.parametrize("name", PAPERS)


class Vectors:
    """Noisy vectors of items, which the ids name ("i3.de"), of texts in their language and of images."""

    def __init__(self, noise=0.8):
        self.identity, self.noise, self.encoded = f"noisy:{noise}", noise, []

    def encode(self, batch):
        ideal = np.random.default_rng(5).standard_normal((N, D))
        tags = batch.language if hasattr(batch, "text") else ["image"] * len(batch.ids)
        rows = []
        for tag, own in zip(tags, batch.ids, strict=True):
            self.encoded.append((tag, own))
            rng = np.random.default_rng(crc32(f"{tag}{own}".encode()))
            rows.append(ideal[int(own.rpartition(".")[0][1:])] + self.noise * rng.standard_normal(D))
        return np.array(rows, dtype=np.float32)


class Images(Vectors):
    """The same of images, which the first row that shows one names."""


def fit(name, path, split="train"):
    return f"{WRITTEN[name]}{'&' if '?' in WRITTEN[name] else '?'}fit={path}#{split}"


def vectors_of(tag, ids, encoder=Vectors):
    class Batch:
        language = [tag] * len(ids)

    Batch.ids = ids
    if tag != "image":
        Batch.text = ids
    return encoder().encode(Batch)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a manifest with images, of which every item but the first 36 is for training."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("data")
    rows = []
    for i in range(N):
        Image.new("RGB", (2, 2), (i, 1, 7)).save(folder / f"{i}.png")
        part = "train" if i >= N - TRAIN else "test"
        for tag in ("en", "de"):
            row = {"id": f"i{i}.{tag}", "lang": tag, "text": f"{tag} {i}", "item": str(i), "split": part}
            rows.append({**row, "image": f"{i}.png"})
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ids_of(tag, train):
    return [f"i{i}.{tag}" for i in (range(N - TRAIN, N) if train else range(N - TRAIN))]


def scores(name, source, target, *, encoders=(Vectors, Vectors)):
    """Return the paper's scores of the test items, whose bank are the train items of the source's side."""
    x, b = (vectors_of(source, _shown(source, train), encoders[0]) for train in (False, True))
    return PAPERS[name](x, vectors_of(target, _shown(target, False), encoders[1]), b)


def _shown(tag, train):
    return [own.replace(".image", ".en") for own in ids_of(tag, train)]


def reciprocal_ranks(found):
    own = np.diagonal(found)[:, None]
    return 1 / ((found > own).sum(axis=1) + 1)


def xlr(data, **options):
    given = {"text_encoders": Vectors(), "measures": "RR", "store": None, "split": "test"} | options
    return crosslingual_retrieval(data, **given)


@BOTH
def test_crosslingual_retrieval_ranks_by_the_papers_scores(data, name, tmp_path):
    """The bank of each direction are the training texts in the language of its queries."""
    found = xlr(data, similarity=fit(name, data), trec=tmp_path, trec_depth=None)
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


@BOTH
def test_backretrieval_takes_the_nearest_text_by_the_papers_scores(data, name):
    images, options = Images(0.2), {"pairs": "en-de", "sample": 18, "measures": "R@5", "seeds": 2}
    given = {"text_encoders": Vectors(), "image_encoder": images, "store": None, "split": "test", **options}
    found = backretrieval(data, similarity=fit(name, data), **given)
    bank = vectors_of("en", ids_of("en", True))
    for seed in (0, 1):
        rows = [row for row in found.per_query.to_pylist() if row["seed"] == seed and row["measure"] == "R@5"]
        asked = [row["query"].split("/")[0] for row in rows]
        items = {int(own.rpartition(".")[0][1:]) for own in asked}
        targets = [f"i{i}.de" for i in range(N - TRAIN) if i not in items]
        expected = PAPERS[name](vectors_of("en", asked), vectors_of("de", targets), bank).argmax(axis=1)
        assert [row["retrieved"] for row in rows] == [targets[place] for place in expected]


def test_the_signature_has_a_digest_of_the_banks_rows(data, tmp_path):
    """Not their order, nor where they are; other rows are another similarity."""
    lines = [line for line in data.read_text().splitlines() if '"train"' in line]
    for name, chosen in (("same", lines[::-1]), ("fewer", lines[4:])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(chosen) + "\n")
        for png in data.parent.glob("*.png"):
            (tmp_path / png.name).write_bytes(png.read_bytes())
    paths = [f"{data}#train", tmp_path / "same.jsonl", tmp_path / "fewer.jsonl"]
    runs = [xlr(data, similarity=f"inverted-softmax?beta=9&fit={path}") for path in paths]
    named = [Signature.parse(run.entries[0].signature).system["similarity"] for run in runs]
    assert named[0].startswith("inverted-softmax?beta=9&fit=") and len(named[0].rpartition("=")[2]) == 12
    assert named[0] == named[1] != named[2]
    assert runs[0].entries == runs[1].entries
    assert runs[0].request["similarity"] == f"inverted-softmax?beta=9&fit={data}#train"


def test_languages_that_the_bank_lacks(data):
    """A direction without any is refused."""
    lines = [line for line in data.read_text().splitlines() if '"train"' in line and '"lang": "en"' in line]
    bank = data.parent / "en.jsonl"
    bank.write_text("\n".join(lines))
    assert xlr(data, similarity=f"csls?fit={bank}", pairs="en-de").entries
    with pytest.raises(InputError, match="training queries are in en, and those that are evaluated in de"):
        xlr(data, similarity=f"csls?fit={bank}", pairs="de-en")
