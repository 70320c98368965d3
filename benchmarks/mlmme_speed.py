"""Training MLMME at the paper's sizes: at least three times as fast as embedding every contrastive item anew.

Ours encodes each sentence and image of a batch once. The plain way embeds the contrastive items of every
positive separately, with torch's own GRU over packed sequences; both have the same draws, so that losses and
gradients are equal. A step is loss, gradient and Adam. Times are processor time of one thread; more
contrastive items than here make the plain way slower still. Then the memory of an epoch at 10,000 and 100,000
items: that of the process itself, without the pages of mapped files, which are the system's.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from xlingual.data.manifest import Manifest
from xlingual.encoders import adopt
from xlingual.models.mlmme import Mlmme, unit
from xlingual.models.texts import Vocabulary
from xlingual.training.corpus import Corpus
from xlingual.training.packing import Source, TextReading, pack
from xlingual.training.recipes.mlmme import MlmmeBatch, MlmmeRecipe, ViewBatch, build_model
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.training.samplers import IMAGES

LANGUAGES = ("en", "de")
WORDS, LENGTH, IMAGE_DIM, CONTRASTIVE = 20_000, 12, 4096, 10
STEPS, LEAST = 3, 3.0
TINY = {"word_dim": 8, "state_dim": 8, "joint_dim": 8}
GROWTH = 8 << 20  # bytes that ten times the items may add to an epoch


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


def plain_loss(recipe: MlmmeRecipe, batch: MlmmeBatch) -> Tensor:
    """Return the loss of a batch, the contrastive items of every positive embedded for it alone."""
    model, options = recipe.model, recipe.options
    names = (IMAGES, *options.languages)
    anchors = {name: embedded(model, name, batch.views[name], batch.views[name].anchor) for name in names}
    b = len(batch.items)
    repeated = {  # [b, c, d]
        name: embedded(model, name, view, view.contrast.repeat(b)).unflatten(0, (b, -1))
        for name, view in batch.views.items()
    }

    def one_way(anchor: str, positive: str) -> Tensor:
        own = (anchors[anchor] * anchors[positive]).sum(1, keepdim=True)
        others = torch.einsum("bd,bcd->bc", anchors[anchor], repeated[positive])
        allowed = batch.groups[:, None] != batch.views[positive].groups
        return (torch.relu(options.margin - own + others) * allowed).sum()

    value = torch.zeros(())
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            weight = options.beta if one == IMAGES else 1 - options.beta
            value = value + weight * (one_way(one, other) + one_way(other, one))
    return value


def embedded(model: Mlmme, name: str, view: ViewBatch, rows: Tensor) -> Tensor:
    """Return the vectors of rows of a view's members, each as if it were the only one."""
    if name == IMAGES:
        return model.images(view.inputs[0][rows])
    numbers, lengths = (part[rows] for part in view.inputs)
    words, gru = model.words[f"lang_{name}"], model.sentences[f"lang_{name}"]
    packed = nn.utils.rnn.pack_padded_sequence(
        words(numbers), lengths, batch_first=True, enforce_sorted=False
    )
    return unit(model.text(gru(packed)[1][0]))


def steps(recipe: MlmmeRecipe, loss: Callable[[MlmmeBatch], Tensor]) -> Iterator[tuple[float, float]]:
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


def own_memory() -> int:
    """Return the memory of this process that is no page of a file, in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


def epoch(folder: str) -> None:
    """Print the most memory that an epoch over the corpus of a folder adds to what there was before."""
    options = MlmmeOptions(LANGUAGES, **TINY)  # type: ignore[arg-type]
    known = {tag: Vocabulary(tuple(f"w{number}" for number in range(WORDS))) for tag in LANGUAGES}
    before = own_memory()
    packed = Corpus.open(Path(folder))
    recipe = MlmmeRecipe(build_model(options, known, packed), packed, options)
    most = before
    for batch in recipe.batches(1):
        recipe.loss(batch).value.backward()
        most = max(most, own_memory())
    print(most - before)


def memory() -> None:
    """Print the memory of an epoch at two sizes, each in its own process, and assert their difference."""
    taken = []
    for items in (10_000, 100_000):
        with tempfile.TemporaryDirectory() as folder:
            corpus(Path(folder), items, 256)
            code = f"from benchmarks.mlmme_speed import epoch; epoch({folder!r})"
            run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
            size = sum(file.stat().st_size for file in Path(folder).iterdir())
        taken.append(int(run.stdout))
        disk, mebibytes = (round(count / 2**20) for count in (size, taken[-1]))
        print(f"an epoch of {items:,} items ({disk} MiB on disk): {mebibytes} MiB of memory")
    assert taken[1] - taken[0] < GROWTH, taken


def main() -> None:
    """Run both parts."""
    torch.set_num_threads(1)
    speed()
    memory()


if __name__ == "__main__":
    main()
