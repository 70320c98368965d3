"""Small manifests with vectors, as strange as the real ones: equal texts, zero vectors, shared images."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
from hypothesis import strategies as st

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler

oracle = SimpleNamespace(**run_path(str(Path(__file__).with_name("oracle.py"))))
LANGUAGES = ("en", "de", "ja", "pt-BR")
MEASURES = ("R@1", "R@2", "RR", "MedR")


class Table:
    """An encoder that looks vectors up by (language, id)."""

    def __init__(self, identity, vectors):
        self.identity, self.vectors = identity, vectors

    def encode(self, batch):
        keys = zip(batch.language, batch.ids, strict=True)
        return np.array([self.vectors[key] for key in keys], dtype=np.float32)


class Case:
    """A manifest, vectors of its texts by several encoders, and vectors of its images.

    `texts` maps an encoder's name to float32 [n, d], `images` is float32 [n, e]: a line for each text.
    """

    def __init__(self, manifest, texts, images):
        self.manifest, self.texts = manifest, texts
        # an image that several rows show has one vector: that of the first
        first = {}
        rows = [first.setdefault(p, i) if p >= 0 else i for i, p in enumerate(manifest.image.tolist())]
        self.images = images[rows]
        self.keys = list(zip([manifest.languages[c] for c in manifest.language], manifest.ids, strict=True))

    def encoders(self, names=None):
        chosen = list(self.texts) if names is None else names
        return {name: self.encoder(name, self.texts[name]) for name in chosen}

    def encoder(self, name, vectors):
        return Table(name, dict(zip(self.keys, vectors, strict=True)))

    @property
    def image_encoder(self):
        return self.encoder("images", self.images)

    def image_keys(self, rows):
        """Return what makes images distinct: their bytes, or where there are none their vectors."""
        sources = [*self.manifest.image_source, None]
        content = [sources[self.manifest.image[row]] for row in rows]
        vectors = [(self.images[row] + np.float32(0)).tobytes() for row in rows]
        return [vector if c is None else c for c, vector in zip(content, vectors, strict=True)]

    def backretrieval(self, measure, name, sample, compare=oracle.cosines):
        s, t = sample.source, sample.target
        texts, images = self.texts[name], self.images
        return oracle.backretrieval(
            measure, texts[s], texts[t], images[s], images[t], self.image_keys(s), compare
        )

    def crosslingual_retrieval(self, measure, name, sample, compare=oracle.cosines):
        s, t, item = sample.source, sample.target, self.manifest.item
        return oracle.crosslingual_retrieval(
            measure, self.texts[name][s], self.texts[name][t], item[s], item[t], compare
        )

    def distance_correlation(self, name, sample):
        s, t = sample.source, sample.target
        return oracle.distance_correlation(
            self.texts[name][s], self.texts[name][t], self.images[s], self.images[t]
        )

    def sample(self, entry, *, matching=False, **options):
        """Return the sample of a result's entry."""
        sampler = Sampler(self.manifest, **options)
        draw = sampler.matching if matching else sampler.non_matching
        return next(s for s in draw(entry.source, entry.target) if s.seed == entry.seed)


def wide_rows(rng, n, languages, captions, images):
    """Return rows of the wide form; some items lack a language."""
    rows = []
    for i in range(n):
        row = {"id": f"i{i}"}
        for language in languages:
            for c in range(captions):
                complete = i < 10 or rng.random() < 0.8
                name = f"text_{language}" if captions == 1 else f"text_{language}_{c + 1}"
                row[name] = f"{language} {i} {c}" if complete else None
        rows.append(row | images(i))
    return rows


def long_rows(rng, n, languages, captions, images):
    """Return rows of the long form, shuffled, with an explicit item."""
    rows = [
        {"id": f"{i}-{c}", "lang": language, "text": f"{language} {i} {c}", "item": f"i{i}"} | images(i)
        for i in range(n)
        for language in languages
        for c in range(int(rng.integers(1, captions + 1)))
        if i < 10 or rng.random() < 0.8
    ]
    return [rows[i] for i in rng.permutation(len(rows))]


def vectors(kind, rng, n):
    if kind == "integers":  # many exact ties, zero vectors among them
        return rng.integers(-1, 2, (n, 3)).astype(np.float32)
    if kind == "few":  # few distinct vectors, as equal texts give
        return rng.standard_normal((4, 5)).astype(np.float32)[rng.integers(0, 4, n)]
    if kind == "zeros":
        out = rng.standard_normal((n, 4)).astype(np.float32)
        out[rng.random(n) < 0.4] = 0
        return out
    if kind == "constant":
        return np.full((n, 3), 0.3, dtype=np.float32)
    return rng.standard_normal((n, 6)).astype(np.float32)


@st.composite
def cases(draw, kinds=("integers", "few", "zeros", "plain", "constant")):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    form = draw(st.sampled_from([wide_rows, long_rows]))
    languages = LANGUAGES[: draw(st.integers(2, 4))]
    n, captions = draw(st.integers(12, 18)), draw(st.integers(1, 2))
    shown = draw(st.sampled_from(["none", "own", "shared"]))
    album = [bytes([1, j]) for j in range(n)]
    choice = rng.integers(0, 9, n) if shown == "shared" else np.arange(n)
    given = {} if shown == "none" else {i: {"image": album[choice[i]]} for i in range(n)}
    manifest = Manifest.of(form(rng, n, languages, captions, lambda i: given.get(i, {})))
    texts = {kind: vectors(kind, rng, len(manifest)) for kind in kinds}
    of_items = vectors(draw(st.sampled_from(["plain", "integers", "few", "zeros", "constant"])), rng, n)
    return Case(manifest, texts, of_items[manifest.item])
