"""Runs and qrels of the tasks over manifests: other programs find our measures in them."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from zlib import crc32

import ir_measures
import numpy as np
import pytest
from ir_measures import RR, R, Success

from xlingual import crosslingual_retrieval
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError

N = 60


def png(shade):
    from PIL import Image

    out = BytesIO()
    Image.new("RGB", (2, 2), (shade % 256, shade // 256, 7)).save(out, "PNG")
    return out.getvalue()


def manifest_of(n=N, texts=1):
    return Manifest.of(
        [
            {"id": f"i {i}.{c}", "lang": tag, "text": f"{tag} {i} {c}", "item": i, "image": png(i)}
            for i in range(n)
            for tag in ("en", "de")
            for c in range(texts)
        ]
    )


class Vectors:
    """Noisy vectors of items, as texts or as images; `step` rounds them, so that many are equal."""

    def __init__(self, name, noise, step=None):
        self.name, self.identity, self.noise, self.step = name, f"v:{name}:{noise}", noise, step

    def encode(self, batch):
        rng = np.random.default_rng(5)
        ideal = rng.standard_normal((N, 6))
        out = []
        tags = getattr(batch, "language", ["image"] * len(batch.ids))
        for tag, own in zip(tags, batch.ids, strict=True):
            item = int(own.split()[1].split(".")[0])
            noise = np.random.default_rng([len(self.name), crc32(f"{tag}{own}".encode())]).standard_normal(6)
            out.append(ideal[item] + self.noise * noise)
        found = np.array(out, dtype=np.float32)
        return found if self.step is None else np.round(found / self.step) * self.step


def judged(folder, run, measures):
    """Return the means that ir_measures finds."""
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    found = list(ir_measures.read_trec_run(str(folder / run)))
    return {str(name): value for name, value in ir_measures.calc_aggregate(measures, qrels, found).items()}


def ours(results, encoder, source, target, seed=0):
    return {
        entry.measure: entry.value
        for entry in results.entries
        if (entry.encoder, entry.source, entry.target, entry.seed) == (encoder, source, target, seed)
    }


OPTIONS = {"store": None}


def test_crosslingual_retrieval(tmp_path):
    results = crosslingual_retrieval(
        manifest_of(),
        text_encoders=[Vectors("a", 0.7), Vectors("bb", 1.5)],
        measures=["R@1", "R@10", "RR"],
        trec=tmp_path,
        trec_depth=None,
        **OPTIONS,
    )
    for encoder in ("a", "bb"):
        for source, target in (("en", "de"), ("de", "en")):
            own = ours(results, encoder, source, target)
            found = judged(tmp_path / f"{source}-{target}", f"{encoder}.run", [R @ 1, R @ 10, RR])
            assert found == pytest.approx(own, abs=1e-9)
            assert 0 < own["R@1"] < 1


@pytest.mark.filterwarnings("ignore:items have several target texts")
def test_several_right_answers_and_a_depth(tmp_path):
    results = crosslingual_retrieval(
        manifest_of(texts=2),
        text_encoders=[Vectors("a", 0.9)],
        measures=["R@5", "Success@5", "RR@10"],
        pairs="en-de",
        sample=40,
        seeds=2,
        trec=tmp_path,
        trec_depth=10,
        **OPTIONS,
    )
    for seed in (0, 1):
        found = judged(tmp_path / f"en-de.seed{seed}", "a.run", [R @ 5, Success @ 5, RR @ 10])
        assert found == pytest.approx(ours(results, "a", "en", "de", seed), abs=1e-9)
        lines = (tmp_path / f"en-de.seed{seed}" / "a.run").read_text().splitlines()
        assert set(Counter(line.split()[0] for line in lines).values()) == {10}


@pytest.mark.filterwarnings("ignore:text encoder 'a'")
def test_ties_come_in_the_order_of_names(tmp_path):
    results = crosslingual_retrieval(
        manifest_of(),
        text_encoders=[Vectors("a", 0.9, step=1.5)],
        pairs="en-de",
        trec=tmp_path,
        trec_depth=None,
        **OPTIONS,
    )
    assert results.entries[0].n_tied
    lists: dict[str, list[str]] = {}
    for line in (tmp_path / "en-de" / "a.run").read_text().splitlines():
        query, _, candidate, *_ = line.split()
        lists.setdefault(query, []).append(candidate)
    vectors = Vectors("a", 0.9, step=1.5)
    manifest = manifest_of()
    texts = {tag: manifest.texts(manifest.rows_of(tag)) for tag in ("en", "de")}

    def unit(tag):
        both = vectors.encode(manifest.texts(np.arange(len(manifest)))).astype(np.float64)
        raw = both[manifest.rows_of(tag)]
        length = np.linalg.norm(raw, axis=1, keepdims=True)
        return np.divide(raw, length, out=np.zeros_like(raw), where=length > 0)

    scores = np.round(unit("en") @ unit("de").T, 9)
    names = [f"de:{own.replace(' ', '%20')}" for own in texts["de"].ids]
    for query, row in zip(texts["en"].ids, scores, strict=True):
        wanted = sorted(range(len(names)), key=lambda place: (-row[place], names[place]))
        assert lists[f"en:{query.replace(' ', '%20')}"] == [names[place] for place in wanted]


def test_what_has_no_rankings_says_so(tmp_path):
    options = {"text_encoders": [Vectors("a", 0.9)], "trec": tmp_path / "runs", **OPTIONS}
    with pytest.raises(InputError, match="TREC runs of depth 0"):
        crosslingual_retrieval(manifest_of(), trec_depth=0, **options)
    assert not (tmp_path / "runs").exists()
