"""All vectors of a corpus, for validation: what the model says of it as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from xlingual.arrays import Ints, Vectors
from xlingual.models.mlmme import Mlmme
from xlingual.training.corpus import Corpus


@dataclass(frozen=True)
class Placed:
    """Vectors [n, d] and the group of each, [n]: equal groups belong together."""

    vectors: Vectors
    group: Ints

    def all_equal(self) -> Placed:
        """Return equal vectors [n, 1] in place of the vectors."""
        return Placed(np.ones((len(self.group), 1), dtype=np.float32), self.group)


@dataclass(frozen=True)
class CorpusVectors:
    """The texts of each language and the distinct pictures of a corpus, in the joint space."""

    texts: Mapping[str, Placed]
    pictures: Placed | None

    def all_equal(self) -> CorpusVectors:
        """Return the same of a model that knows nothing: all vectors are equal, so that chance ranks them."""
        texts = {tag: placed.all_equal() for tag, placed in self.texts.items()}
        return CorpusVectors(texts, None if self.pictures is None else self.pictures.all_equal())


def corpus_vectors(model: Mlmme, corpus: Corpus, batch: int = 512) -> CorpusVectors:
    """Return the vectors of all texts and all distinct pictures; each is encoded once, without dropout."""
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            texts = {tag: _texts(model, corpus, tag, batch) for tag in corpus.languages}
            return CorpusVectors(texts, _pictures(model, corpus, batch))
    finally:
        model.train(was_training)


def _texts(model: Mlmme, corpus: Corpus, tag: str, batch: int) -> Placed:
    packed = corpus.texts[tag]
    device = next(model.parameters()).device
    members = np.arange(len(packed))
    vectors = np.empty((len(members), model.config.joint_dim), dtype=np.float32)
    by_length = np.argsort(np.diff(packed.offsets), kind="stable")
    for start in range(0, len(members), batch):
        chosen = by_length[start : start + batch]
        words, lengths = (torch.from_numpy(part).to(device) for part in packed.padded(chosen))
        vectors[chosen] = model.texts(tag, words, lengths).float().cpu().numpy()
    return Placed(vectors, corpus.groups[packed.owners(members)])


def _pictures(model: Mlmme, corpus: Corpus, batch: int) -> Placed | None:
    packed = corpus.pictures
    if packed is None or model.picture is None:
        return None
    device = next(model.parameters()).device
    shown, member = np.unique(packed.shown, return_index=True)
    vectors = np.empty((len(shown), model.config.joint_dim), dtype=np.float32)
    for start in range(0, len(shown), batch):
        chosen = np.ascontiguousarray(packed.vectors[shown[start : start + batch]])
        found = model.pictures(torch.from_numpy(chosen).to(device))
        vectors[start : start + batch] = found.float().cpu().numpy()
    return Placed(vectors, corpus.groups[packed.owners(member)])
