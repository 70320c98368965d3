"""How a training stands after an epoch: which epoch was best, and whether to go on."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.training.options import FitOptions


@dataclass(frozen=True)
class Standing:
    """What the loop remembers from epoch to epoch besides the weights."""

    epoch: int = 0  # epochs that are over
    best_epoch: int = 0  # 0: none yet
    best_score: float | None = None  # None where nothing is validated
    worse: int = 0  # epochs in a row without a better score
    seconds: float = 0.0  # of training and validation, over all parts of a training that was continued

    def after(self, score: float | None, seconds: float) -> Standing:
        """Return how the training stands after one more epoch; an equal score is no better one."""
        epoch = self.epoch + 1
        best = score is None or self.best_score is None or score > self.best_score
        return Standing(
            epoch=epoch,
            best_epoch=epoch if best else self.best_epoch,
            best_score=score if best else self.best_score,
            worse=0 if best else self.worse + 1,
            seconds=self.seconds + seconds,
        )

    def stopped(self, options: FitOptions) -> str | None:
        """Return why the training ends here, `patience` or `epochs`; None: it goes on."""
        if self.epoch >= options.epochs:
            return "epochs"
        return "patience" if options.patience is not None and self.worse >= options.patience else None
