"""The runs of docs/results/pivot.md, part by part.

    python -m benchmarks.pivot_runs ikea shuffled …

Each run is written to docs/results/pivot.json as it ends; what is there is not run again.
`python -m benchmarks pivot_tables` prints the tables.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from benchmarks.pivot_data import Problem, ikea, split, unit
from benchmarks.pivot_kept import kept
from benchmarks.pivot_measure import measured
from benchmarks.pivot_sets import emoji, recipes, scenes
from benchmarks.pivot_trained import runs
from xlingual import DataWarning

FIT, TEST = 450, 280
SPLITS = int(os.environ.get("SPLITS", "1"))
SPLITS_OF_ALL = int(os.environ.get("SPLITS_OF_ALL", "5"))
SPLITS_OF_TRAINED = int(os.environ.get("SPLITS_OF_TRAINED", "5"))
SPLITS_OF_MLMME = int(os.environ.get("SPLITS_OF_MLMME", "5"))
MOST = 256  # dimensions of encoders that are tried in more than one split
FEW = ("mixlsa_char", "wordvec_identical", "cllsa_50", "monolsa_unaligned", "cllsa_2860")


def in_one_language() -> None:
    """IKEA: each item to fit on has one language."""
    for seed in range(SPLITS_OF_ALL):
        kept(f"items|IKEA|{seed}", lambda s=seed: {"items": _items(s)})
        for problem in sorted(ikea(), key=lambda one: one.text["en"].shape[1]):
            kept(
                f"ikea|{problem.encoder}|{seed}",
                lambda p=problem, s=seed: measured(p, s, FIT, TEST, more=s == 0, others=True),
            )


def _items(seed: int) -> list[int]:
    """Return the items that a split of IKEA tests on, the same for all encoders."""
    found: list[int] = split(next(ikea()), seed, FIT, TEST).items.tolist()
    return found


def shuffled() -> None:
    """IKEA, encoders of at most `MOST` dimensions, each item has the image of another."""
    for seed in range(SPLITS):
        order = np.random.default_rng([seed, 1]).permutation(730)
        for problem in _small():
            kept(
                f"shuffled|{problem.encoder}|{seed}",
                lambda p=problem, s=seed, o=order: measured(p, s, FIT, TEST, image=p.image[o]),
            )


def _small(names: Sequence[str] | None = None) -> list[Problem]:
    return [one for one in ikea(names) if one.text["en"].shape[1] <= MOST]


def left_out() -> None:
    """Emoji, scenes and recipes, on which nothing of the choice was set."""
    for seed in range(SPLITS):
        for problem, pair, n_test in _left_out():
            kept(
                f"left-out|{problem.data}|{pair}|{problem.encoder}|{seed}",
                lambda p=problem, s=seed, m=n_test: measured(p, s, 800, m, more=True),
            )


def _left_out() -> Iterator[tuple[Problem, str, int]]:
    """Yield problems in two languages, how these are called, and the number of items to test on."""
    for found, pairs in (
        (emoji(("lsa 100", "mono-lsa")), ("en-de", "es-pt", "en-ru", "en-ja")),
        (recipes(), ("en-es", "en-id", "en-ru")),
        (scenes(("lsa 300", "mono-lsa")), ("en-es", "en-ja")),
    ):
        for problem in found:
            for pair in pairs:
                yield problem.of(pair.split("-")), pair, 300


def shuffled_left_out() -> None:
    """Run the same with the image of another item."""
    for seed in range(SPLITS):
        for problem, pair, n_test in _left_out():
            order = np.random.default_rng([seed, 1]).permutation(len(problem.image))
            kept(
                f"shuffled left-out|{problem.data}|{pair}|{problem.encoder}|{seed}",
                lambda p=problem, s=seed, m=n_test, o=order: measured(p, s, 800, m, image=p.image[o]),
            )


def curves() -> None:
    """Items, noise of images, share of items in both languages, and number of languages."""
    for seed in range(SPLITS):
        for problem in _small(FEW):
            for n_fit in (100, 200, 300):
                key = f"items of IKEA|{n_fit}|{problem.encoder}|{seed}"
                kept(key, lambda p=problem, s=seed, n=n_fit: measured(p, s, n, TEST))
            for share in (0.25, 1.0):
                key = f"shared|{share}|{problem.encoder}|{seed}"
                kept(key, lambda p=problem, s=seed, x=share: measured(p, s, FIT, TEST, shared=x))
            for level in (0.5, 2.0):
                image = unit(problem.image)
                noise = np.random.default_rng([seed, 2]).standard_normal(image.shape)
                noisy = (image + level * noise / image.shape[1] ** 0.5).astype(np.float32)
                key = f"noise|{level}|{problem.encoder}|{seed}"
                kept(key, lambda p=problem, s=seed, v=noisy: measured(p, s, FIT, TEST, image=v))


def many_items() -> None:
    """Scenes in English and Spanish, from 200 to 4,000 items."""
    problems = list(scenes(("mono-lsa", "lsa 300")))
    for n_fit in (200, 1000, 4000):
        for problem in problems:
            key = f"items of scenes|{n_fit}|{problem.encoder}|0"
            kept(key, lambda p=problem, n=n_fit: measured(p.of(("en", "es")), 0, n, 400))


def languages() -> None:
    """Emoji, 90 items to fit on in each of 2, 3, 6 and 9 languages, tested between English and Spanish."""
    tags = ("en", "es", "de", "fr", "it", "pt", "id", "ru", "tr")
    for problem in emoji(("mono-lsa", "lsa 100")):
        for many in (2, 3, 6, 9):
            for jointly in (True, False) if many > 2 else (True,):
                key = f"languages|{many}|{'jointly' if jointly else 'to one'}|{problem.encoder}|0"
                kept(
                    key,
                    lambda p=problem, k=many, j=jointly: measured(
                        p.of(tags[:k]), 0, 90 * k, 300, jointly=j, asked=("en", "es")
                    ),
                )


def constants() -> None:
    """Try other numbers of rounds and of nearest images that are kept, on IKEA."""
    for problem in _small(FEW):
        for rounds in (1, 3, 10):
            key = f"rounds|{rounds}|{problem.encoder}|0"
            kept(key, lambda p=problem, r=rounds: measured(p, 0, FIT, TEST, rounds=r))
        for many in (10, 100):
            key = f"nearest|{many}|{problem.encoder}|0"
            kept(key, lambda p=problem, k=many: measured(p, 0, FIT, TEST, kept=k))


def trained() -> None:
    """Triplet, TripletXL and MLMME beside the image pivot, on the same data."""
    for key, make in runs(SPLITS_OF_TRAINED, SPLITS_OF_MLMME):
        kept(key, make)


PARTS: Mapping[str, Callable[[], None]] = {
    "ikea": in_one_language,
    "shuffled": shuffled,
    "left_out": left_out,
    "shuffled_left_out": shuffled_left_out,
    "curves": curves,
    "many_items": many_items,
    "languages": languages,
    "constants": constants,
    "trained": trained,
}


def main() -> None:
    """Run the parts that are named, or all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for name in sys.argv[1:] if len(sys.argv) > 1 and sys.argv[0].endswith(".py") else PARTS:
            PARTS[name]()


if __name__ == "__main__":
    main()
