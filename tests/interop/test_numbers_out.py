"""Numbers out: runs are read alike by ranx and ir_measures, and failures are a pandas DataFrame."""

from zlib import crc32

import numpy as np
import pytest

ir_measures = pytest.importorskip("ir_measures")
ranx = pytest.importorskip("ranx")
pandas = pytest.importorskip("pandas")

from xlingual import (  # noqa: E402
    Manifest,
    MultilingualPool,
    crosslingual_retrieval,
    multilingual_pool,
)
from xlingual.data.pools.pool import Candidates, Questions  # noqa: E402

N = 50


class Vectors:
    """Noisy vectors of items, which ids name, without ties."""

    def __init__(self, name, noise):
        self.name, self.identity, self.noise = name, f"v:{name}:{noise}", noise

    def encode(self, batch):
        ideal = np.random.default_rng(5).standard_normal((N, 6))
        role, tags = getattr(batch, "role", ""), getattr(batch, "language", ["image"] * len(batch.ids))
        seeds = [
            crc32(f"{self.name}{role}{tag}{own}".encode()) for tag, own in zip(tags, batch.ids, strict=True)
        ]
        noise = [np.random.default_rng(seed).standard_normal(6) for seed in seeds]
        items = [int(own[1:].split(".")[0]) for own in batch.ids]
        return (ideal[items] + self.noise * np.array(noise)).astype(np.float32)


MANIFEST = Manifest.of(
    [
        {"id": f"i{i}.{c}", "lang": tag, "text": f"{tag} {i} {c}", "item": i, "image": f"{i}".encode()}
        for i in range(N)
        for tag in ("en", "de")
        for c in range(2)
    ]
)
LANGUAGES = ("en", "de")
POOL = MultilingualPool(
    "a test",
    LANGUAGES,
    Questions(
        ids=[f"i{i}" for i in range(N)],
        language=np.arange(N) % 2,
        text=[f"question {i}" for i in range(N)],
        key=[str(i) for i in range(N)],
        cluster=np.arange(N),
    ),
    Candidates(
        ids=[f"i{i}" for i in range(N)] * 2,
        language=np.repeat([0, 1], N),
        text=[f"{tag} answer {i}" for tag in LANGUAGES for i in range(N)],
        context=[""] * (2 * N),
        keys=[(str(i),) for i in range(N)] * 2,
        cluster=np.tile(np.arange(N), 2),
    ),
    (),
    (),
)
TEXTS = [Vectors("a", 0.9)]


def evaluated(task, folder):
    """Return results and, for each folder of files, the numbers that must be found in them."""
    options = {"text_encoders": TEXTS, "trec": folder, "trec_depth": None, "store": None}
    if task == "pool":
        found = multilingual_pool(POOL, measures=["AP", "R@5", "Success@5", "RR"], **options)
        return found, {".": ("all", "pool")}
    found = crosslingual_retrieval(MANIFEST, measures=["R@5", "Success@5", "RR"], **options)
    return found, {"en-de": ("en", "de"), "de-en": ("de", "en")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("task", ["crosslingual-retrieval", "pool"])
def test_ranx_and_ir_measures_find_our_numbers(tmp_path, task):
    results, folders = evaluated(task, tmp_path)
    names = {"R@5": "recall@5", "Success@5": "hit_rate@5", "RR": "mrr", "AP": "map"}
    for folder, (source, target) in folders.items():
        ours = {
            row.measure: row.value
            for row in results.entries
            if (row.source, row.target) == (source, target) and row.measure in names
        }
        assert ours and all(0 < value < 1 for value in ours.values())
        qrels, run = (str(tmp_path / folder / name) for name in ("qrels.txt", "a.run"))
        theirs = ir_measures.calc_aggregate(
            [ir_measures.parse_measure(name) for name in ours],
            list(ir_measures.read_trec_qrels(qrels)),
            list(ir_measures.read_trec_run(run)),
        )
        assert {str(name): value for name, value in theirs.items()} == pytest.approx(ours, abs=1e-6)
        found = ranx.evaluate(
            ranx.Qrels.from_file(qrels, kind="trec"),
            ranx.Run.from_file(run, kind="trec"),
            [names[one] for one in ours] + ["precision@1"],
        )
        assert {one: found[names[one]] for one in ours} == pytest.approx(ours, abs=1e-6)
