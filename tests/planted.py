"""Items whose images and texts say the same thing, so that a pivot by images has something to find."""

import json

import numpy as np

from xlingual.align.nodes import Nodes

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


def rows_of(items=150, tags=TAGS[:2], alone=False):
    """Return the rows of a manifest: each item in all languages, or, alone, in one of them."""
    return [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": str(i)}
        for i in range(items)
        for place, tag in enumerate(tags)
        if not alone or i % len(tags) == place
    ]


def vectors_of(rows, *, things=50, dim=8, noise=0.2, turned=False, apart=1.0, images=1.0, seed=0):
    """Return vectors of the rows' texts and of their images [r, dim]; item i shows thing i % things.

    The parameters are those of `twins`; items that show one thing differ in what their texts say beside it.
    """
    rng = np.random.default_rng(seed)
    tags = list(dict.fromkeys(row["lang"] for row in rows))
    most = 1 + max(int(row["item"]) for row in rows)
    shown, said = rng.normal(size=(things, dim)), rng.normal(size=(most, dim))
    seen = images * shown[np.arange(most) % things] + noise * rng.normal(size=(most, dim))
    moved = apart * rng.normal(size=(len(tags), dim))
    text, image = np.empty((2, len(rows), dim), dtype=np.float32)
    for line, row in enumerate(rows):
        i, code = int(row["item"]), tags.index(row["lang"])
        own = shown[i % things] + 0.5 * said[i] + noise * rng.normal(size=dim) + moved[code]
        text[line] = own @ rotation(dim, code) if turned and code else own
        image[line] = seen[i]
    return text, image


def write(folder, rows, **options):
    """Write rows as JSON lines with their vectors; return the data and the specs of texts and images."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for name, vectors in zip(("text", "image"), vectors_of(rows, **options), strict=True):
        np.save(folder / f"{name}.npy", vectors)
    return folder / "data.jsonl", f"vectors:{folder}/text.npy", f"vectors:{folder}/image.npy"
