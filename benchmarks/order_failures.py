"""Encoders that Backretrieval cannot order, and whether any signal sees them: what order confidence refuses.

`look`, `hash`, `topics`, `offset` and CSLS as in docs/results/blind-spots.md, each beside all encoders of its
data set. The model is one that saw neither this data set nor, of course, any of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.blind_spots import (
    NOISES,
    OFFSETS,
    Source,
    csls,
    hashed,
    joined,
    look,
    offset,
    topics,
    unit,
)  # fmt: skip
from benchmarks.order_data import USUAL, Data
from benchmarks.order_rows import between, image_view, probability, sample, seen, text_view, truth

CSLS = "best, CSLS"


def failures(data: Data) -> Iterator[dict[str, object]]:
    """Yield a row for each made-up encoder and each real one of a data set, in its first language pair."""
    pair = data.pairs[0]
    real = {name: truth(data, name, pair) for name in data.texts}
    best = max(real, key=lambda name: real[name].value)
    own = {tag: data.texts[best][tag] for tag in pair}
    source = Source(data.name, None, pair, data.images, {}, {})  # type: ignore[arg-type]
    built = {
        **{f"look, noise {noise:g}": look(source, noise) for noise in NOISES},
        "hash": hashed(source),
        "best and hash": joined(own, hashed(source)),
        "topics of images": topics(source, data.images),
        "topics of texts": topics(source, np.vstack([unit(own[tag]) for tag in pair])),
        **{f"best, offset {size:g}": offset(source, own, size) for size in OFFSETS},
        CSLS: own,
    }
    s, t = sample(data, USUAL)
    images = image_view(unit(data.images), s, t)
    known = {}
    for name, sides in {**{n: data.texts[n] for n in real}, **built}.items():
        repair = csls if name == CSLS else None
        view = text_view(unit(sides[pair[0]])[s], unit(sides[pair[1]])[t], repair)
        with_it = replace(data, texts={name: sides})
        xlr = truth(with_it, name, pair, repair=repair)
        known[name] = seen(view, images, s, t, data.group), xlr, view
    top = max(one.bkr.value for name, (one, _, _) in known.items() if name in real)
    for name in built:
        for other in real:
            a, b = (name, other) if known[name][0].bkr.value >= known[other][0].bkr.value else (other, name)
            p, _ = probability(known[a][1], known[b][1])
            yield {
                "data": data.name, "built": name, "other": other, "ahead": a == name, "p": p,
                "best": max(top, known[name][0].bkr.value) - images.chance, "is best": other == best,
                **between(known[a][0], known[b][0], images.chance, None),
            }  # fmt: skip
