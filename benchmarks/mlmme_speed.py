"""Training MLMME at the paper's sizes: at least three times as fast as embedding every contrastive item anew.

Ours encodes each sentence and image of a batch once. The plain way embeds the contrastive items of every
positive separately, with torch's own GRU over packed sequences; both have the same draws, so that losses and
gradients are equal. A step is loss, gradient and Adam. Times are processor time of one thread; more
contrastive items than here make the plain way slower still.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from xlingual.data.manifest import Manifest
from xlingual.encoders import adopt
from xlingual.models.mlmme import unit
from xlingual.models.texts import Vocabulary
from xlingual.training.corpus import Corpus, Source, TextReading, pack
from xlingual.training.recipes.mlmme import MlmmeRecipe, build_model
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.training.samplers import IMAGES, BatchDraw

LANGUAGES = ("en", "de")
WORDS, LENGTH, IMAGE_DIM, CONTRASTIVE = 20_000, 12, 4096, 10
STEPS, LEAST = 3, 3.0


class Images:
    """An image encoder: random vectors, one for each item."""

    def __init__(self, dim: int) -> None:
        self.identity, self.dim = f"random {dim}", dim

    def encode(self, batch: object) -> np.ndarray:
        """Return vectors [n, dim] that depend on the row's number alone."""
        return np.stack(
            [np.random.default_rng(int(row[:-2])).random(self.dim, dtype=np.float32) for row in batch.ids]  # type: ignore[attr-defined]
        )


def corpus(folder: Path, items: int, image_dim: int) -> tuple[Corpus, dict[str, Vocabulary]]:
    """Write and return a corpus of random sentences, each of LENGTH words, and its vocabularies."""
    rng = np.random.default_rng(0)
    known = {tag: Vocabulary(tuple(f"w{number}" for number in range(WORDS))) for tag in LANGUAGES}
    numbers = rng.integers(0, WORDS, (items, len(LANGUAGES), LENGTH))
    rows = [
        {"id": f"{item}{tag}", "lang": tag, "item": str(item), "text": " ".join(f"w{w}" for w in words)}
        for item, texts in enumerate(numbers.tolist())
        for tag, words in zip(LANGUAGES, texts, strict=True)
    ]
    source = Source("random", adopt(Images(image_dim)))
    return pack(folder, Manifest.of(rows), known, TextReading(), source), known


def plain_loss(recipe: MlmmeRecipe, batch: BatchDraw) -> Tensor:
    """Return the loss of a batch, the contrastive items of every positive embedded for it alone."""
    corpus, options = recipe.corpus, recipe.options
    names, b = (IMAGES, *options.languages), len(batch.items)
    anchors = {name: embedded(recipe, name, batch.anchor[name]) for name in names}
    repeated = {  # [b, c, d]
        name: embedded(recipe, name, np.tile(batch.contrast[name], b)).unflatten(0, (b, -1)) for name in names
    }

    def one_way(anchor: str, positive: str) -> Tensor:
        own = (anchors[anchor] * anchors[positive]).sum(1, keepdim=True)
        others = torch.einsum("bd,bcd->bc", anchors[anchor], repeated[positive])
        members = corpus.images if positive == IMAGES else corpus.texts[positive]
        groups = corpus.groups[members.owners(batch.contrast[positive])]
        allowed = torch.from_numpy(corpus.groups[batch.items][:, None] != groups)
        return (torch.relu(options.margin - own + others) * allowed).sum()

    value = torch.zeros(())
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            weight = options.beta if one == IMAGES else 1 - options.beta
            value = value + weight * (one_way(one, other) + one_way(other, one))
    return value


def embedded(recipe: MlmmeRecipe, name: str, members: np.ndarray) -> Tensor:
    """Return the vectors of members of a view, each as if it were the only one."""
    model = recipe.model
    if name == IMAGES:
        return model.images(torch.from_numpy(recipe.corpus.images.of(members)))
    numbers, lengths = (torch.from_numpy(part) for part in recipe.corpus.texts[name].padded(members))
    words, gru = model.words[f"lang_{name}"], model.sentences[f"lang_{name}"]
    packed = nn.utils.rnn.pack_padded_sequence(
        words(numbers), lengths, batch_first=True, enforce_sorted=False
    )
    return unit(model.text(gru(packed)[1][0]))


def steps(recipe: MlmmeRecipe, loss: Callable[[BatchDraw], Tensor]) -> Iterator[tuple[float, float]]:
    """Yield the processor seconds and the loss of a few steps of training; the first is a warm-up."""
    optimizer = torch.optim.Adam(recipe.model.parameters(), lr=1e-4)
    for batch, _ in zip(recipe.batches(1), range(STEPS + 1), strict=False):
        begun = time.process_time()
        optimizer.zero_grad(set_to_none=True)
        value = loss(batch)
        value.backward()
        optimizer.step()
        yield time.process_time() - begun, float(value.detach())


def speed() -> None:
    """Print how many steps a second both ways take; assert equal losses and the ratio."""
    options = MlmmeOptions(LANGUAGES, contrastive=CONTRASTIVE, dropout=0.0)
    spent: dict[str, float] = {}
    losses: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        packed, known = corpus(Path(folder), 128 * (STEPS + 2), IMAGE_DIM)
        for name in ("ours", "plain"):
            recipe = MlmmeRecipe(build_model(options, known, packed), packed, options)
            recipe.model.train()
            loss = (
                (lambda batch, recipe=recipe: recipe.loss(batch).value)
                if name == "ours"
                else (lambda batch, recipe=recipe: plain_loss(recipe, batch))
            )
            seconds, losses[name] = zip(*steps(recipe, loss), strict=True)
            spent[name] = min(seconds[1:])
    ratio = spent["plain"] / spent["ours"]
    print(
        f"620/1024/2048, {IMAGE_DIM}-d images, 2 languages, batch 128, {CONTRASTIVE} contrastive: "
        f"{1 / spent['ours']:.2f} steps/s, plain {1 / spent['plain']:.3f} steps/s, ratio {ratio:.1f}"
    )
    assert np.allclose(losses["ours"], losses["plain"], rtol=1e-3), losses  # after steps of Adam, in float32
    assert abs(losses["ours"][0] / losses["plain"][0] - 1) < 1e-5, losses
    assert ratio >= LEAST, ratio


def main() -> None:
    """Run it with one thread."""
    torch.set_num_threads(1)
    speed()


if __name__ == "__main__":
    main()
