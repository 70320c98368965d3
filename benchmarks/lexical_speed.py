"""`chargram`, `wordgram` and the colours of `pixels` against the plain way: scikit-learn's, and one pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer

from xlingual.arrays import Vectors
from xlingual.encoders import pixels
from xlingual.encoders.chargram import FEATURES, NONZEROS, ChargramEncoder
from xlingual.encoders.wordgram import WordgramEncoder
from xlingual.models.words import normalized, words
from xlingual.records import Texts

N, IMAGES, BLOCK, ROUNDS = 20_000, 256, 4096, 3
LIMITS = {"chargram": 2.0, "wordgram": 0.9, "pixels": 2.0}  # at least so many times as fast


WORDS = 200_000  # of the texts; their frequencies follow Zipf's law
SYLLABLES = [*("ka", "lo", "mi", "ren", "stu", "ver", "tal", "ön", "bri", "gau")]
SYLLABLES += [*("ßel", "ne", "pos", "qui", "dra", "wim", "ef", "hol", "jut", "xa")]


def texts(n: int, rng: np.random.Generator) -> list[str]:
    """Return n texts of 4 to 14 words: English ones, each followed by its translation."""
    lengths = rng.integers(4, 15, -(-n // 2))
    rank = np.exp(rng.random(int(lengths.sum())) * np.log(WORDS)).astype(np.int64)  # Zipf's law
    known = np.array([word(number) for number in range(WORDS)], dtype=object)
    ends, found = np.cumsum(lengths), []
    for language in (known[rank], known[translation()[rank]]):
        found.append([" ".join(language[a:b]) for a, b in zip(ends - lengths, ends, strict=True)])
    return [text for pair in zip(*found, strict=True) for text in pair][:n]


def translation() -> np.ndarray:
    """Return the number of the German word for each English one."""
    return np.random.default_rng(0).permutation(WORDS)


def word(number: int) -> str:
    """Return the word of a number: its digits to the base of the number of syllables."""
    parts = []
    while True:
        number, digit = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[digit])
        if number == 0:
            return "".join(parts)


def plain(of: Sequence[str], hashing: HashingVectorizer, projection: csr_matrix) -> Vectors:
    """Return the vectors of the texts by way of scikit-learn, block by block."""
    of_block = [slice(start, start + BLOCK) for start in range(0, len(of), BLOCK)]
    distinct = sorted(set(of))
    df = np.zeros(FEATURES)
    for start in range(0, len(distinct), BLOCK):
        df += np.bincount(hashing.transform(distinct[start : start + BLOCK]).indices, minlength=FEATURES)
    idf = np.log((1 + len(distinct)) / (1 + df)) + 1
    vectors = np.zeros((len(of), projection.shape[1]), dtype=np.float32)
    for block in of_block:
        counts = hashing.transform(of[block])
        counts.sort_indices()
        counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        counts.data /= np.sqrt(np.bincount(rows, weights=counts.data**2))[rows]
        vectors[block] = (counts @ projection).toarray()
    return vectors


def projection(dim: int, nonzeros: int) -> csr_matrix:
    """Return the random projection of seed 0, sparse [FEATURES, dim]."""
    generator, size = np.random.default_rng(0), FEATURES * nonzeros
    columns = generator.integers(dim, size=size)
    signs = generator.choice([-1.0, 1.0], size=size) / np.sqrt(nonzeros)
    return csr_matrix((signs, columns, np.arange(0, size + 1, nonzeros)), shape=(FEATURES, dim))


def one_pass(lab: Vectors) -> Vectors:
    """Return the soft counts of colours with all channels and images at once."""
    n, size, bins = len(lab), int(np.prod(pixels.BINS)), np.array(pixels.BINS)
    low, high = pixels.RANGE
    most = bins.astype(np.float32) - 1
    place = np.clip((lab.reshape(n, pixels.SIZE**2, 3) - low) / (high - low), 0, 1) * most
    first = np.minimum(place.astype(np.int64), bins - 2)
    counts, offset = np.zeros(n * size), (np.arange(n) * size)[:, None]
    for corner in np.ndindex(2, 2, 2):
        cell = first + np.array(corner)
        flat = (cell[..., 0] * bins[1] + cell[..., 1]) * bins[2] + cell[..., 2] + offset
        share = np.where(corner, place - first, 1 - (place - first)).prod(axis=-1)
        counts += np.bincount(flat.ravel(), weights=share.ravel(), minlength=n * size)
    return np.sqrt(counts.reshape(n, size)).astype(np.float32)


def compared(name: str, ours: Callable[[], Vectors], theirs: Callable[[], Vectors]) -> None:
    """Time both in turns, print the ratio of the fastest, and assert that the vectors are equal."""
    best = {"ours": float("inf"), "plain": float("inf")}
    found = {}
    for _ in range(ROUNDS):
        for way, call in (("ours", ours), ("plain", theirs)):
            begun = time.process_time()
            found[way] = call()
            best[way] = min(best[way], time.process_time() - begun)
    np.testing.assert_array_equal(found["ours"], found["plain"])
    ratio = best["plain"] / best["ours"]
    print(f"   {name:9s} {best['ours']:6.2f} s, plain {best['plain']:6.2f} s: {ratio:.1f} times as fast")
    assert ratio > LIMITS[name], (name, ratio)


def main() -> None:
    """Print times and ratios; assert equal vectors and the limits."""
    rng = np.random.default_rng(0)
    of = texts(N, rng)
    batch = Texts(of, ["en"] * N, [str(row) for row in range(N)])
    options = {"n_features": FEATURES, "alternate_sign": False, "norm": None}
    ngrams = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), preprocessor=normalized, **options)
    whole = HashingVectorizer(analyzer=words, **options)
    print(f"{N:,} texts of 4 to 14 words, {IMAGES} images")
    of_ngrams, of_words = projection(256, NONZEROS), projection(4096, 1)
    compared("chargram", lambda: ChargramEncoder().encode(batch), lambda: plain(of, ngrams, of_ngrams))
    compared("wordgram", lambda: WordgramEncoder().encode(batch), lambda: plain(of, whole, of_words))
    lab = pixels.to_lab(rng.integers(0, 256, (IMAGES, pixels.SIZE, pixels.SIZE, 3), dtype=np.uint8))
    compared("pixels", lambda: pixels._histogram(lab), lambda: one_pass(lab))
