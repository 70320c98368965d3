"""Items whose images and texts say the same thing, so that a pivot by images has something to find."""

import numpy as np

from xlingual.pivot.nodes import Nodes

TAGS = ("de", "en", "zh")


def rotation(dim, seed=0):
    """Return an orthogonal matrix [dim, dim]."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dim, dim)))[0]


def twins(things=120, languages=2, dim=8, *, noise=0.2, turned=False, apart=1.0, images=1.0, seed=0):
    """Return nodes: each thing is another item in each language, with another image of the same thing.

    `noise` is of texts and images, `apart` moves the texts of each language, `turned` rotates those of all
    but the first; `images` 0 makes images that say nothing of things. Node c·things + i is thing i.
    """
    rng = np.random.default_rng(seed)
    shown, said = rng.normal(size=(2, things, dim))
    said = said + shown
    texts, pictures = [], []
    for code in range(languages):
        text = said + noise * rng.normal(size=(things, dim)) + apart * rng.normal(size=dim)
        texts.append(text @ rotation(dim, code) if turned and code else text)
        pictures.append(images * shown + noise * rng.normal(size=(things, dim)))
    item = np.arange(languages * things)
    language = np.repeat(np.arange(languages), things)
    return Nodes.of_rows(
        np.concatenate(texts).astype(np.float32),
        np.concatenate(pictures).astype(np.float32),
        language,
        TAGS[:languages],
        item,
        item,
    )
