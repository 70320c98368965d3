"""Ten encoders over one sample: the image product is computed once, not once for each encoder."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.timed import Job, measure
from benchmarks.vectors import Given, spectrum, two_languages
from xlingual import Results, backretrieval

N, TEXT_DIM, IMAGE_DIM, ENCODERS = 4_000, 128, 2048, 10
TOGETHER, APART = "ten encoders at once", "one after the other"


def main() -> None:
    """Compare one run of ten encoders with ten runs: the same numbers, fewer pairs."""
    rng = np.random.default_rng(0)
    images = Given(spectrum(rng, 2 * N, IMAGE_DIM), "images")
    encoders = {f"e{i}": Given(spectrum(rng, 2 * N, TEXT_DIM), f"e{i}") for i in range(ENCODERS)}
    evaluate = partial(
        backretrieval, two_languages(N), image_encoder=images, pairs="en-de", threads=1, store=None
    )
    answers: dict[str, list[Results]] = {}

    def check(name: str, runs: list[Results]) -> None:
        answers[name] = runs
        values = [[entry.value for run in each for entry in run.entries] for each in answers.values()]
        assert values[0] == values[-1]
        print(f"{name}: {sum(run.diagnostics['pairs_screened'] for run in runs):,} pairs")

    jobs = [
        Job(TOGETHER, lambda: [evaluate(text_encoders=encoders)], None, check=partial(check, TOGETHER)),
        Job(
            APART,
            lambda: [evaluate(text_encoders={name: one}) for name, one in encoders.items()],
            TOGETHER,
            check=partial(check, APART),
        ),
    ]
    measure(f"{ENCODERS} encoders, {N:,} items", jobs, turns=2)
