"""What a person sees of a training while it runs."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TypeAlias

from xlingual.training.epoch import EpochMeans
from xlingual.training.options import FitOptions
from xlingual.training.recipe import Recipe, Scores
from xlingual.training.standing import Standing

ProgressCallback: TypeAlias = Callable[
    [str, int, int], None
]  # what, done, of all; of all below 0: `what` is a sentence

_SENTENCE = -1
_PAUSE = 0.1  # seconds between two reports of steps


class Progress:
    """Reports steps done of those of all epochs, so that the time left is that of the whole training."""

    def __init__(self, report: ProgressCallback | None, recipe: Recipe, options: FitOptions) -> None:
        self._report, self._epochs = report, options.epochs
        self._ends = [0]  # steps that are done after each epoch
        for epoch in range(1, options.epochs + 1) if report else ():
            self._ends.append(self._ends[-1] + recipe.steps(epoch))
        self._next = 0.0

    def continued(self, standing: Standing) -> None:
        """Say that a training goes on."""
        if self._report:
            self._report(f"continuing after epoch {standing.epoch}", 0, _SENTENCE)

    def step(self, standing: Standing, done: int, loss: float, rate: float) -> None:
        """Report `done` steps of the epoch after `standing`, their mean loss, and the rate of the last."""
        now = monotonic()
        if self._report and now >= self._next:
            self._next = now + _PAUSE
            self._show(standing, done, f"loss {loss:.3g} · rate {rate:.3g}")

    def validating(self, standing: Standing, steps: int) -> None:
        """Report that the epoch after `standing` is validated."""
        self._show(standing, steps, "validation")

    def epoch(self, standing: Standing, means: EpochMeans, scores: Scores | None, seconds: float) -> None:
        """Report an epoch that is over, the last one of `standing`, in a sentence of its own."""
        if not self._report:
            return
        score = f" · score {scores.value:.5g}" if scores else ""
        best = ", the best so far" if scores and standing.best_epoch == standing.epoch else ""
        told = f"epoch {standing.epoch}/{self._epochs} · loss {means.loss:.4g}{score}{best} · {seconds:.3g} s"
        self._report(told, 0, _SENTENCE)

    def _show(self, standing: Standing, done: int, text: str) -> None:
        if self._report:
            best = f" · best {standing.best_score:.4g}" if standing.best_score is not None else ""
            what = f"training · epoch {standing.epoch + 1}/{self._epochs} · {text}{best}"
            self._report(what, self._ends[standing.epoch] + done, self._ends[-1])
