"""What an export says of its model, and whether both give the same vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.trained import TripletNetwork
from xlingual.errors import InputError
from xlingual.models.card import card, identity, signature
from xlingual.models.folder import ModelFolder
from xlingual.models.triplet_config import TripletConfig

MOST = 1e-5  # largest difference of vectors that rounding may cause
_LIBRARY = "sentence-transformers"
_SPLITS = {
    "first-sentence": "title is a text's first sentence (or line), body is the rest",
    "halves": "title is the first half of a text's words, body the second half",
}


def about(folder: ModelFolder, network: TripletNetwork) -> dict[str, str]:
    """Return where an export comes from: the model, its signature and base, its views and their scaling."""
    config, base = network.config, folder.config["base"]
    views = f"{config.title}, {config.body}" if config.split is None else f"split: {config.split}"
    return {
        "model": identity(folder),
        "signature": str(signature(folder)),
        "base": base["identity"],
        "views": views,
        "scaling": config.scaling,
    }


def check_same(who: str, found: Vectors, expected: Vectors) -> float:
    """Return the largest difference of vectors [n, d]; raise InputError where they are not the same.

    Where numbers above 1 occur it is a share of the largest one.
    """
    if found.shape != expected.shape or not np.isfinite(found).all():
        raise InputError(
            f"{who} gives vectors of the shape {found.shape}, expected {expected.shape} and finite"
        )
    size = max(1.0, float(np.abs(expected).max(initial=0)))
    difference = float(np.abs(found - expected).max(initial=0)) / size
    if difference > MOST:
        raise InputError(
            f"{who} gives other vectors than the model (they differ by {difference:.2g}, expected {MOST:g} "
            "at most) and is not written: use model: in xlingual, or train on another base"
        )
    return difference


def readme(folder: ModelFolder, what: str, *use: str, library: str = _LIBRARY) -> str:
    """Return the README.md of a folder that a library reads: what it is, and how it is used."""
    own = (_LIBRARY,) if library == _LIBRARY else ()
    topics = (*own, "sentence-similarity", "feature-extraction", "xlingual")
    return card(folder, what=what, use="\n\n".join(filter(None, use)), library=library, topics=topics)


def python(lines: Sequence[str]) -> str:
    """Return lines of code as Markdown has them."""
    return "\n".join(["```python", *lines, "```"])


def triplet_readme(folder: ModelFolder, config: TripletConfig, tower: str, name: str) -> str:
    """Return the README.md of a folder that gives one half of a Triplet's vector."""
    base = folder.config["base"]
    what = (
        f"A frozen encoder of texts ({base['dim']:,} dimensions, `{base['identity']}`) and two dense layers, "
        f"ReLU after each, trained by xlingual. It gives {config.out_dim:,} dimensions{_scaling(config)}. "
        "The licence of the encoder holds for its part."
    )
    return readme(folder, what, _which(config, tower), _code(tower, name), _joining(config))


def _scaling(config: TripletConfig) -> str:
    if config.scaling == "unit":
        return "; vectors have unit length, or are zero where no ReLU lets anything through"
    return ", not scaled"


def _which(config: TripletConfig, tower: str) -> str:
    views = (
        f"the fields `{config.title}` and `{config.body}` of an item"
        if config.split is None
        else f"two parts of a text: {_SPLITS[config.split]}"
    )
    reads = {"title": "reads the titles only", "body": "reads the bodies only"}.get(tower, "reads both")
    return f"The model's vector is made of {views}, here called title and body. This folder {reads}."


def _code(tower: str, name: str) -> str:
    lines = ["import numpy as np", "from sentence_transformers import SentenceTransformer", ""]
    if tower == "both":
        lines += [
            f'model = SentenceTransformer("{name}")',
            "title, body = model.encode(titles), model.encode(bodies)",
        ]
    else:
        lines += [
            "# TITLE and BODY: the folders that --field title and --field body gave",
            'title = SentenceTransformer("TITLE").encode(titles)',
            'body = SentenceTransformer("BODY").encode(bodies)',
        ]
    lines.append("vectors = np.hstack([title, body])  # title before body")
    return python(lines)


def _joining(config: TripletConfig) -> str:
    cosine = (
        "The cosine of two such vectors is the mean of the cosines of their titles and of their bodies, "
        "where none of them is zero. "
        if config.scaling == "unit"
        else "The longer half counts more in the cosine of two such vectors. "
    )
    return (
        f"{cosine}Where a title or a body is empty, the other stands for it: encode it in both places. "
        "Titles can be compared with titles alone, and with bodies where both go through the same layers."
    )
