"""Transforms that are fitted on translations: items with texts in two languages or more."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats
from xlingual.errors import InputError, listed
from xlingual.transforms.affine import Affine, by_language
from xlingual.transforms.methods import inverse_root, oas
from xlingual.transforms.moments import FitData, Moments, PairMoments

_PENALTIES = 10.0 ** np.arange(-6, 2)  # of `ridge`, times the mean variance of a dimension


def deltas(data: FitData, to: str | None = None) -> Affine:
    """Return x + the mean difference of translations in the language `to` and in its own.

    Pires, Schlinger and Garrette, How multilingual is multilingual BERT?, ACL 2019 (footnote 2 of LAReQA).
    `to` is the language with the most pairs unless given; its texts stay as they are. Where every item has a
    text in every language this is `centre` with the mean of `to` put back.
    """
    to = data_pivot(data, to)
    maps: dict[str, tuple[Floats | None, Floats]] = {}
    for language, part in data.moments.items():
        here, there = part.mean, part.mean
        if language != to:
            here, there = _halves(data.pairs(language, to).whole())[:2]
        maps[language] = None, there - here
    return by_language(maps)


def procrustes(data: FitData, to: str | None = None) -> Affine:
    """Return x·W with the rotation W that brings texts closest to their translations in the language `to`.

    W = U·Vᵀ of the singular value decomposition of the sum of x·yᵀ (Schönemann 1966; Smith, Turban, Hamblin
    and Hammerla, ICLR 2017). Texts in `to`, unless given the language with the most pairs, stay as they are.
    """
    to = data_pivot(data, to)
    maps: dict[str, tuple[Floats | None, Floats]] = {}
    for language in data.moments:
        if language == to:
            matrix = None
        else:
            whole = data.pairs(language, to).whole()
            dim = len(whole.mean) // 2
            left, _, right = np.linalg.svd(whole.second[:dim, dim:])
            matrix = left @ right
        maps[language] = matrix, np.zeros(len(data.moments[language].mean))
    return by_language(_all_with_a_matrix(maps))


def ridge(data: FitData, to: str | None = None) -> Affine:
    """Return the linear map with an offset that predicts the translation in `to` best, its size penalised.

    The penalty is that with the least squared error on pairs that were held out, in five folds. Texts in
    `to`, unless given the language with the most pairs, stay as they are.
    """
    to = data_pivot(data, to)
    maps: dict[str, tuple[Floats | None, Floats]] = {}
    for language in data.moments:
        if language == to:
            maps[language] = None, np.zeros(len(data.moments[language].mean))
            continue
        pairs = data.pairs(language, to)
        x, y, xx, xy, _ = _halves(pairs.whole())
        if not xx.any():
            raise InputError(
                f"all vectors in {language!r} that it is fitted on are equal: there is nothing to fit"
            )
        penalty = choose_penalty(pairs)
        matrix = _ridge(xx, xy, penalty)
        maps[language] = matrix, y - x @ matrix
    return by_language(_all_with_a_matrix(maps))


def choose_penalty(pairs: PairMoments) -> float:
    """Return the penalty with the least squared error on the folds that were held out, from moments alone."""
    if len(pairs.folds) < 2:
        return float(_PENALTIES[-1])
    error = np.zeros(len(_PENALTIES))
    for place, fold in enumerate(pairs.folds):
        x, y, xx, xy, _ = _halves(pairs.whole(without=place))
        for number, penalty in enumerate(_PENALTIES):
            matrix = _ridge(xx, xy, penalty) if xx.any() else np.zeros_like(xy)
            error[number] += fold.count * _squared_error(fold, matrix, y - x @ matrix)
    return float(_PENALTIES[error.argmin()])


def _ridge(xx: Floats, xy: Floats, penalty: float) -> Floats:
    dim = len(xx)
    damped = xx + penalty * float(np.trace(xx)) / dim * np.eye(dim)
    solved: Floats = np.asarray(np.linalg.solve(damped, xy), dtype=np.float64)
    return solved


def _squared_error(part: Moments, matrix: Floats, offset: Floats) -> float:
    """Return the mean of ‖y − x·matrix − offset‖² over the pairs of a part."""
    x, y, xx, xy, yy = _halves(part)
    away = y - x @ matrix - offset
    spread = np.trace(yy) - 2 * np.sum(matrix * xy) + np.sum(matrix * (xx @ matrix))
    return float(spread + away @ away)


def cca(data: FitData, k: int | None = None) -> Affine:
    """Return the k coordinates in each language along which translations vary together most.

    Canonical correlation analysis of two languages (Faruqui and Dyer, EACL 2014), and its extension MAXVAR
    to more (Kettenring, Biometrika 58, 1971): each language is whitened, its covariance shrunk by `oas`, and
    mapped on the first k eigenvectors of all of them side by side. Without shrinkage that is CCA; with it the
    own variance of a language counts a little, too. Fitted on items that have texts in all languages. `k` is
    the number of dimensions unless given.
    """
    languages = tuple(sorted(data.moments))
    if len(languages) < 2:
        raise InputError(f"cca needs texts in two languages at least, found {', '.join(languages)} only")
    if "cca" not in data.memo:
        data.memo["cca"] = _canonical(data.pairs(*languages).whole(), len(languages))
    found: list[tuple[Floats, Floats]] = data.memo["cca"]
    dim = found[0][0].shape[1]
    k = dim if k is None else k
    if k > dim:
        raise InputError(f"cca: {k} directions are asked for, and the vectors have {dim}: ask for fewer")
    return by_language(
        {
            language: (matrix[:, :k], -mean @ matrix[:, :k])
            for language, (matrix, mean) in zip(languages, found, strict=True)
        }
    )


def _canonical(whole: Moments, count: int) -> list[tuple[Floats, Floats]]:
    """Return the canonical directions [d, d] of each of several languages side by side, and its mean [d]."""
    dim = len(whole.mean) // count
    parts = [slice(place * dim, (place + 1) * dim) for place in range(count)]
    roots = []
    for part in parts:
        own = Moments(whole.count, whole.mean[part], whole.covariance[part, part])
        share = oas(own)
        covariance = (1 - share) * own.covariance
        covariance[np.diag_indices(dim)] += share * np.trace(own.covariance) / dim
        roots.append(inverse_root(covariance))
    together = np.empty_like(whole.covariance)
    for i, left in enumerate(parts):
        for j, right in enumerate(parts):
            together[left, right] = roots[i] @ whole.covariance[left, right] @ roots[j]
    axes = _first_eigenvectors(together, dim)
    return [(root @ axes[part], whole.mean[part]) for root, part in zip(roots, parts, strict=True)]


def _first_eigenvectors(symmetric: Floats, k: int) -> Floats:
    from scipy.linalg import eigh

    size = len(symmetric)
    _, axes = eigh(symmetric, subset_by_index=(size - k, size - 1))
    found = axes[:, ::-1]
    oriented: Floats = found * np.sign(found[np.abs(found).argmax(axis=0), np.arange(k)])
    return oriented


def data_pivot(data: FitData, to: str | None) -> str:
    """Return the language that the others are mapped to; raise InputError where it has no texts."""
    known = data.moments
    if to is not None:
        if to not in known:
            raise InputError(f"to={to}: the texts that it is fitted on are in {listed(known, 20)}")
        return to
    items = {language: set[str]() for language in known}
    for item, language in zip(data.items, data.languages, strict=False):
        if language in items:
            items[language].add(item)
    shared = {
        language: sum(len(own & other) for tag, other in items.items() if tag != language)
        for language, own in items.items()
    }
    return max(sorted(shared), key=lambda language: shared[language])


def _all_with_a_matrix(
    maps: dict[str, tuple[Floats | None, Floats]],
) -> dict[str, tuple[Floats | None, Floats]]:
    """Return the maps with the identity written out, where others have a matrix."""
    return {
        tag: (np.eye(len(offset)) if matrix is None else matrix, offset)
        for tag, (matrix, offset) in maps.items()
    }


def _halves(part: Moments) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return mean x, mean y, and the covariances xx, xy and yy of pairs."""
    d = len(part.mean) // 2
    c = part.covariance
    return part.mean[:d], part.mean[d:], c[:d, :d], c[:d, d:], c[d:, d:]
