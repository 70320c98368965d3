"""Do images say anything of the texts? Held-out image pairs beside pairs drawn at random.

For ten encoders of IKEA, with its images and with those of other items: the log rank of the texts of held-out
image pairs (by images alone) under the map that votes would take, beside that of the same texts paired at
random, as a t statistic. Records go to docs/results/pivot.json: python -m benchmarks.pivot_guard
"""

from __future__ import annotations

import numpy as np

from benchmarks.pivot_data import Problem, ikea, split
from benchmarks.pivot_kept import Json, kept
from benchmarks.pivot_measure import _votes, settings_for
from xlingual.arrays import Vectors
from xlingual.pivot import choose as choosing
from xlingual.pivot.choose import FOLDS, folds, log_ranks, part_of
from xlingual.pivot.fit import CCA, Options, applied, fit
from xlingual.pivot.pairs import Pairs, alike, near_pairs
from xlingual.transforms.affine import unit_rows

NAMES = (
    *("monolsa_unaligned", "mixlsa_word", "mixlsa_char", "procrustes_50", "cllsa_50"),
    *("doclen", "random", "cllsa_2860", "ridge_2860", "wordvec_identical"),
)
DRAWS = 10


def against_random(problem: Problem, image: Vectors) -> Json:
    """Return the map with the most votes, by how much it is better, and the t of image pairs under it."""
    nodes = split(problem, 0, 450, 280, image=image).nodes
    candidates, options, rng = alike(nodes), Options(0), np.random.default_rng(0)
    wanted = [one for one in settings_for(nodes.dim, 2) if one.kind != CCA]
    fold, votes = folds(nodes, 0), []
    beyond: list[list[np.ndarray]] = [[] for _ in wanted]
    for number in range(FOLDS):
        rest = part_of(nodes, candidates, fold != number)
        own, near = part_of(nodes, candidates, fold == number)
        texts = [unit_rows(applied(own, fit(*rest, one, options).map)) for one in wanted]
        votes.append(_votes(own, texts, [near_pairs(own, near, text) for text in texts], options))
        pairs = near_pairs(own, near)
        for text, found in zip(texts, beyond, strict=True):
            drawn = [Pairs(pairs.left, rng.permutation(pairs.right), pairs.weight) for _ in range(DRAWS)]
            found.append(
                np.mean([log_ranks(own, text, one) for one in drawn], axis=0) - log_ranks(own, text, pairs)
            )
    fall, weight, group = (np.concatenate(each, axis=-1) for each in zip(*votes, strict=True))
    judged = [choosing._judged(one, fall[place], weight, group) for place, one in enumerate(wanted)]
    place = max(range(len(wanted)), key=lambda each: judged[each].fall)
    ahead = np.concatenate(beyond[place])
    return {
        "encoder": problem.encoder, "map": wanted[place].name, "fall": round(judged[place].fall, 3),
        "error": round(judged[place].standard_error, 3), "image_pairs": len(ahead),
        "t": round(float(ahead.mean() / (ahead.std(ddof=1) / np.sqrt(len(ahead)))), 2),
    }  # fmt: skip


def main() -> None:
    """Keep a record of each encoder with its own images, and with shuffled ones."""
    order = np.random.default_rng([0, 1]).permutation(730)
    for problem in ikea(NAMES):
        for name, image in (("own", problem.image), ("shuffled", problem.image[order])):
            kept(f"guard|{name}|{problem.encoder}", lambda p=problem, v=image: against_random(p, v))


if __name__ == "__main__":
    main()
