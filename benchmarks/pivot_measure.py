"""One run of the image pivot: what each map gives on items apart, and what each criterion says of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.pivot_data import Problem, Split, recall, split, unit
from xlingual.arrays import Floats, Vectors
from xlingual.pivot.choose import CANDIDATES, FOLDS, affordable, choose, folds, log_ranks, part_of
from xlingual.pivot.fit import Options, Settings, applied, fit, tags
from xlingual.pivot.nodes import Nodes
from xlingual.pivot.pairs import NO_PAIRS, Alike, Pairs, alike, near_pairs, same_pairs
from xlingual.repair.label_free import (
    hub_skewness,
    mutual_neighbours,
    nearest,
    neighbourhoods_kept,
    own_language_share,
    within_languages,
)
from xlingual.transforms import methods
from xlingual.transforms.affine import unit_rows
from xlingual.transforms.moments import FitData

K = 10  # nearest of CSLS
Json = dict[str, Any]


def settings_for(dim: int, languages: int, rounds: int | None = None) -> list[Settings]:
    """Return the settings that the library tries on vectors of so many dimensions."""
    found = affordable(CANDIDATES, dim * languages)
    if rounds is None:
        return found
    return [one if one.kind in ("none", "centre") else replace(one, rounds=rounds) for one in found]


def criteria_of(
    nodes: Nodes, candidates: Alike, options: Options, wanted: Sequence[Settings], more: bool
) -> tuple[Settings, dict[str, list[float]]]:
    """Return what the library chooses, and for each criterion a value of each setting, the higher the better.

    "error" and "image error" are the standard errors of "votes" and of "image pairs".
    """
    tried = choose(nodes, candidates, options, wanted)
    by_settings = {one.settings: one for one in tried}
    judged = [by_settings[one] for one in wanted]
    found = {
        "votes": [round(one.fall, 5) for one in judged],
        "error": [round(one.standard_error, 5) for one in judged],
        "image pairs": [round(one.image_fall, 5) for one in judged],
        "image error": [round(one.image_error, 5) for one in judged],
        "related": [round(one.related, 3) for one in judged],
    }
    return tried[0].settings, found | (_more(nodes, candidates, options, wanted) if more else {})


def _more(
    nodes: Nodes, candidates: Alike, options: Options, wanted: Sequence[Settings]
) -> dict[str, list[float]]:
    """Return the means over the folds of what other criteria say."""
    fold, found = folds(nodes, options.seed), dict[str, list[list[float]]]()
    for number in range(FOLDS):
        rest = part_of(nodes, candidates, fold != number)
        own, near = part_of(nodes, candidates, fold == number)
        texts = [unit_rows(applied(own, fit(*rest, one, options).map)) for one in wanted]
        lists = [near_pairs(own, near, text) if options.near else NO_PAIRS for text in texts]
        for name, values in _others(own, texts, lists).items():
            found.setdefault(name, []).append(values)
    return {name: np.mean(each, axis=0).round(4).tolist() for name, each in found.items()}


def _others(nodes: Nodes, texts: Sequence[Vectors], lists: Sequence[Pairs]) -> dict[str, list[float]]:
    """Return what other criteria say of each setting on one fold."""
    found: dict[str, list[float]] = {}
    names = tags(nodes)
    plain = within_languages(texts[0], names)
    image = unit(nodes.image - nodes.image.mean(axis=0))
    for text, own in zip(texts, lists, strict=True):
        fall = log_ranks(nodes, texts[0], own) - log_ranks(nodes, text, own) if len(own) else np.zeros(1)
        kept = neighbourhoods_kept(plain, within_languages(text, names))
        close = nearest(text)
        values = {
            "own pairs": fall.mean(),
            "mutual nearest texts": mutual_neighbours(text, names),
            "image similarity of the nearest text": _similarity(nodes, text, image),
            "neighbourhoods kept": kept,
            "kept / own-language share": kept / max(own_language_share(close, names), 1.0),
            "hub skewness": -hub_skewness(close),
        }
        for name, value in values.items():
            found.setdefault(name, []).append(float(value))
    return found


def _similarity(nodes: Nodes, text: Vectors, image: Floats) -> float:
    """Return the mean cosine of a text's image and that of the nearest text in each other language."""
    found = []
    for a in np.unique(nodes.language):
        for b in np.unique(nodes.language):
            if a != b:
                own, other = nodes.of(int(a)), nodes.of(int(b))
                scores = text[own] @ text[other].T
                scores[nodes.item[own][:, None] == nodes.item[other]] = -2
                best = other[scores.argmax(axis=1)]
                found.append(np.einsum("nd,nd->n", image[own], image[best]).mean())
    return float(np.mean(found))


def measured(
    problem: Problem,
    seed: int,
    n_fit: int,
    n_test: int,
    *,
    more: bool = False,
    others: bool = False,
    shared: float = 0.0,
    image: Vectors | None = None,
    rounds: int | None = None,
    kept: int | None = None,
    jointly: bool = True,
    asked: Sequence[str] | None = None,
) -> Json:
    """Return what was found of every setting: XLR R@10 on items apart, and the criteria.

    `asked`: the languages that are tested, where these are not all.
    """
    began = time.perf_counter()
    parts = split(problem, seed, n_fit, n_test, shared, image)
    if asked is not None:
        parts = replace(parts, tested={tag: parts.tested[tag] for tag in asked})
    nodes = parts.nodes
    options = Options(0, jointly=jointly, seed=seed)
    dim = next(iter(parts.tested.values())).shape[1]
    wanted = settings_for(dim, len(problem.languages), rounds)
    candidates = alike(nodes) if kept is None else alike(nodes, kept=kept)
    fitted = [fit(nodes, candidates, one, options) for one in wanted]
    values = [recall(parts.mapped(one.map)) for one in fitted]
    best, judged = criteria_of(nodes, candidates, options, wanted, more)
    place = wanted.index(best)
    found: Json = {
        "data": problem.data, "languages": list(problem.languages), "encoder": problem.encoder, "seed": seed,
        "fit": len(np.unique(nodes.item)), "tested": len(parts.items),
        "pairs": len(near_pairs(nodes, candidates)), "same": len(same_pairs(nodes)),
        "settings": [one.name for one in wanted], "xlr": [round(float(each.mean()), 5) for each in values],
        "chosen": wanted[place].name, "gain_of_items": _rounded(values[place] - values[0]),
        "criteria": judged,
    }  # fmt: skip
    if others:
        found["others"] = baselines(problem, parts) | true_pairs(problem, parts, wanted, options)
    found["seconds"] = round(time.perf_counter() - began, 1)
    return found


def _rounded(values: Floats) -> list[float]:
    """Return values with 3 digits, whole numbers without a point."""
    return [int(one) if one == int(one) else round(one, 3) for one in values.tolist()]


def baselines(problem: Problem, parts: Split) -> dict[str, float]:
    """Return the XLR R@10 of whitening, and of CSLS with the fitting texts of the queries' language."""
    texts = {tag: [] for tag in problem.languages}
    for code, tag in enumerate(problem.languages):
        own = parts.nodes.of(code)
        text = parts.nodes.text[own] if parts.basis is None else parts.nodes.text[own] @ parts.basis.T
        texts[tag] = text
    names = [tag for tag, own in texts.items() for _ in own]
    data = FitData(np.concatenate(list(texts.values())), names)
    found = {}
    for name, shrink in (("whiten:", None), ("whiten:?shrink=0.5", 0.5)):
        map = methods.whiten(data, shrink=shrink)
        found[name] = _xlr({tag: unit(map.apply(x, [tag] * len(x))) for tag, x in parts.tested.items()})
    for name, map in (("csls", None), ("centre: + csls", methods.centre(data))):
        sides = [
            {tag: unit(x if map is None else map.apply(x, [tag] * len(x))) for tag, x in each.items()}
            for each in (parts.tested, texts)
        ]
        tested, bank = sides
        offset = {
            (a, b): np.sort(bank[a] @ tested[b].T, axis=0)[-K:].mean(axis=0) / 2
            for a in tested
            for b in tested
            if a != b
        }
        found[name] = round(float(recall(tested, offset).mean()), 5)
    return found


def _xlr(vectors: Mapping[str, Floats]) -> float:
    return round(float(recall(vectors).mean()), 5)


def true_pairs(
    problem: Problem, parts: Split, wanted: Sequence[Settings], options: Options
) -> dict[str, float]:
    """Return the XLR R@10 of maps fitted on the translations of the items to fit on."""
    items = np.unique(parts.nodes.item)
    code = np.repeat(np.arange(len(problem.languages)), len(items))
    text = unit_rows(np.concatenate([problem.text[tag][items] for tag in problem.languages]))
    image = np.ones((len(text), 1), dtype=np.float32)
    twice = np.tile(items, len(problem.languages))
    nodes = Nodes.of_rows(text, image, code, problem.languages, twice, problem.group[twice])
    known = Options(options.to, near=False, seed=options.seed)
    none = Alike(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    simple = [one for one in wanted if one.kind in ("none", "ridge") or one.name == "procrustes?penalty=0"]
    values = {}
    for one in simple:
        map = fit(nodes, none, one, known).map
        values[one] = _xlr({tag: unit(map.apply(x, [tag] * len(x))) for tag, x in parts.tested.items()})
    return {
        "true pairs, best": max(values.values()),
        "true pairs, ridge .02": values[Settings("ridge", 0.02)],
    }
