"""What divides texts into parts: columns of the manifest, and what texts and images themselves show.

Nothing here asks the encoder that is judged. Bins and clusters are fixed before any value is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.data.languages import script_of
from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import near_texts
from xlingual.inspection.slices import LEAST, Feature
from xlingual.languages import name_of
from xlingual.models.words import is_spaced, words
from xlingual.ragged import sums

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

PARTS = 4  # of numbers
MOST_LABELS = 60  # of a column that divides texts
_CLUSTERS = 12  # at the most
_PER_CLUSTER = 60  # texts or images, about
_RARE = 2  # texts of a language that hold a rare word, at the most
_TELLING = 3  # words that name a cluster
_TOPICS = 50  # dimensions in which texts are divided
_SHINGLES = 60  # of a text, by which near-equal texts are found


def features_of(
    data: Manifest,
    rows: Ints,
    images: Vectors | None = None,
    seed: int = 0,
    further: Mapping[str, Floats] | None = None,
) -> list[Feature]:
    """Return the features of text rows [n]; `images` [n, d] are vectors of their images, zero for none.

    `further` are lengths by name, each divided within a language.
    """
    text, language = data.text.pick(rows), data.language[rows]
    found = [
        *_columns(data, rows),
        *(
            _parts(name, values[rows], None)
            for name, values in data.numbers.items()
            if name not in data.labels
        ),
        _script(text),
        _parts(
            "length", np.array([len(one) for one in text], dtype=np.float64), language, "shortest", "longest"
        ),
        _parts("rare words", _rare(text, language, data.languages), language, "fewest", "most"),
        *(_parts(name, values, language, "shortest", "longest") for name, values in (further or {}).items()),
        _digits(text),
        _near(text, language),
        *_text_clusters(data, rows, seed),
        *([] if images is None else _image_clusters(images, seed)),
        Feature("language", [name_of(tag) or tag for tag in data.languages], language, alone=False),
    ]
    return [feature for feature in found if len(np.unique(feature.code[feature.code >= 0])) > 1]


def _columns(data: Manifest, rows: Ints) -> Iterator[Feature]:
    for name, column in data.labels.items():
        code = column.codes[rows]
        used, place = np.unique(code, return_inverse=True)
        labels = [column.words[one] if one >= 0 else None for one in used.tolist()]
        if 2 <= len(labels) <= MOST_LABELS:
            empty = np.array([label is None for label in labels])
            yield Feature(name, [str(label) for label in labels], np.where(empty[place], -1, place))


def _parts(
    name: str, values: Floats, within: Ints | None, least: str = "least", most: str = "most"
) -> Feature:
    """Return parts of about equal size, from the least values to the most; those of each language alone.

    A value that very many texts have is one part of its own.
    """
    code = np.full(len(values), -1, dtype=np.int64)
    groups = np.zeros(len(values), dtype=np.int64) if within is None else within
    edges: list[Floats] = []
    for group in np.unique(groups):
        own = np.flatnonzero((groups == group) & np.isfinite(values))
        if len(own):
            edges.append(np.quantile(values[own], np.arange(1, PARTS) / PARTS))
            if within is None:
                edges[-1] = np.unique(edges[-1])
            code[own] = np.searchsorted(edges[-1], values[own], side="left")
    if within is None and len(edges) == 1:
        return Feature(name, _between(edges[0]), code)
    labels = [f"{least} quarter", "below the middle", "above the middle", f"{most} quarter"]
    return Feature(name, labels, code)


def _between(edges: Floats) -> list[str]:
    ends = [f"{edge:g}" for edge in edges.tolist()]
    inner = [f"over {low} to {high}" for low, high in pairwise(ends)]
    return [f"up to {ends[0]}", *inner, f"over {ends[-1]}"]


def _script(text: Sequence[str]) -> Feature:
    """Return the script of most letters."""
    scripts = []
    for one in text:
        letters = [script for script in map(script_of, one) if script is not None]
        scripts.append(
            _script_name(max(sorted(set(letters)), key=letters.count)) if letters else "no letters"
        )
    return _of_words("script", scripts)


def _script_name(script: str) -> str:
    return "Chinese characters" if script == "CJK" else script.capitalize()


def _of_words(name: str, found: Sequence[str]) -> Feature:
    labels, code = np.unique(np.array(found, dtype=object), return_inverse=True)
    return Feature(name, labels.tolist(), code.astype(np.int64))


def _digits(text: Sequence[str]) -> Feature:
    has = np.array([any(letter.isdigit() for letter in one) for one in text], dtype=np.int64)
    return Feature("digits", ["none", "some"], has)


def _near(text: Sequence[str], language: Ints) -> Feature:
    """Return whether another text of the language is near-equal."""
    has = np.zeros(len(text), dtype=np.int64)
    for code in np.unique(language):
        own = np.flatnonzero(language == code)
        first, second, _ = near_texts([text[row] for row in own.tolist()], shingles=_SHINGLES)
        has[own[np.union1d(first, second)]] = 1
    return Feature("near-equal texts", ["none", "another one"], has)


def _rare(text: Sequence[str], language: Ints, tags: Sequence[str]) -> Floats:
    """Return the share of a text's words that few texts of its language hold."""
    share = np.zeros(len(text))
    for code in np.unique(language).tolist():
        own = np.flatnonzero(language == code)
        counted = _counts([text[row] for row in own.tolist()], tags[code])
        known = counted.counts > 0
        rare = np.asarray((counted.counts > 0).sum(axis=0)).ravel() <= _RARE
        held = np.asarray(known.sum(axis=1)).ravel()
        share[own] = np.asarray(known[:, rare].sum(axis=1)).ravel() / np.maximum(held, 1)
    return share


class _Counted:
    """Counts of terms [texts, terms]: words, or pairs of characters in scripts without blanks."""

    def __init__(self, counts: csr_matrix, terms: Sequence[str]) -> None:
        self.counts, self.terms = counts, terms


def _counts(text: Sequence[str], tag: str) -> _Counted:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import CountVectorizer

    if is_spaced(tag):
        reader = CountVectorizer(analyzer=lambda one: [word for word in words(one) if len(word) > 1])
    else:
        reader = CountVectorizer(analyzer="char", ngram_range=(2, 2))
    try:
        return _Counted(reader.fit_transform(text), reader.get_feature_names_out().tolist())
    except ValueError:  # no text holds any word
        return _Counted(csr_matrix((len(text), 1), dtype=np.int64), [""])


def _text_clusters(data: Manifest, rows: Ints, seed: int) -> Iterator[Feature]:
    """Yield clusters of items by the words of their texts in one language: English, or the one of most items.

    Where that leaves out many items, each language has clusters of its own, in one feature.
    """
    tags, items = data.languages, np.unique(data.item[rows])
    texts_in = [
        np.flatnonzero((data.language == code) & np.isin(data.item, items)) for code in range(len(tags))
    ]
    covered = [len(np.unique(data.item[own])) for own in texts_in]
    enough = 0.8 * len(items)
    main = (
        tags.index("en") if "en" in tags and covered[tags.index("en")] >= enough else int(np.argmax(covered))
    )
    if covered[main] >= enough:
        own = texts_in[main]
        own = own[np.unique(data.item[own], return_index=True)[1]]
        code, names = _clusters_of(data.text.pick(own), tags[main], seed)
        of_item = np.full(data.n_items, -1, dtype=np.int64)
        of_item[data.item[own]] = code
        named = name_of(tags[main]) or tags[main]
        yield Feature(f"words in {named}", names, of_item[data.item[rows]])
        return
    found, labels = np.full(len(rows), -1, dtype=np.int64), list[str]()
    for each in np.unique(data.language[rows]).tolist():
        part = np.flatnonzero(data.language[rows] == each)
        code, names = _clusters_of(data.text.pick(rows[part]), tags[each], seed)
        found[part] = np.where(code < 0, -1, code + len(labels))
        labels += [f"{tags[each]}: {name}" for name in names]
    yield Feature("words", labels, found)


def _clusters_of(text: Sequence[str], tag: str, seed: int) -> tuple[Ints, list[str]]:
    """Return the cluster of each text by TF-IDF [n], −1 for a text without words, and the clusters' names."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    counted = _counts(text, tag)
    often = np.asarray((counted.counts > 0).sum(axis=0)).ravel()
    kept = np.flatnonzero((often >= 2) & (often <= max(2, len(text) // 2)))
    known = np.asarray((counted.counts[:, kept] > 0).sum(axis=1)).ravel() > 0
    n = _how_many(int(known.sum()))
    if n < 2 or len(kept) < 3:
        return np.full(len(text), -1, dtype=np.int64), []
    weights = TfidfTransformer(sublinear_tf=True).fit_transform(counted.counts[:, kept][known])
    topics = TruncatedSVD(min(_TOPICS, len(kept) - 1), random_state=seed).fit_transform(weights)
    part = _k_means(normalize(topics), n, seed)
    whole = np.asarray(weights.mean(axis=0)).ravel()
    names = []
    for cluster in range(n):
        own = np.asarray(weights[part == cluster].mean(axis=0)).ravel() if (part == cluster).any() else whole
        best = np.argsort(-(own - whole), kind="stable")[:_TELLING]
        names.append(", ".join(counted.terms[kept[term]] for term in best.tolist()))
    code = np.full(len(text), -1, dtype=np.int64)
    code[known] = part
    return code, names


def _image_clusters(images: Vectors, seed: int) -> Iterator[Feature]:
    """Yield clusters of images by their centred vectors; they are numbered by size."""
    from sklearn.preprocessing import normalize

    known = np.flatnonzero(np.abs(images).max(axis=1) > 0)
    n = _how_many(len(known))
    if n < 2:
        return
    unit = normalize(images[known].astype(np.float64))
    part = _k_means(normalize(unit - unit.mean(axis=0)), n, seed)
    size = sums(part, np.ones(len(part)), n)
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(n)
    code = np.full(len(images), -1, dtype=np.int64)
    code[known] = rank[part]
    yield Feature("look of the image", [f"cluster {place + 1}" for place in range(n)], code)


def _how_many(n: int) -> int:
    """Return how many clusters n texts or images are divided into."""
    return min(_CLUSTERS, n // max(_PER_CLUSTER, LEAST))


def _k_means(vectors: Floats, n: int, seed: int) -> Ints:
    from sklearn.cluster import KMeans

    found: Ints = KMeans(n, n_init=3, random_state=seed).fit_predict(vectors).astype(np.int64)
    return found
