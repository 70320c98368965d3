"""The recipe of LAReQA's dual encoders: pairs of a regime, in-batch sampled softmax."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from xlingual.arrays import Ints, Vectors
from xlingual.data.pools.parallel import ParallelQuestions
from xlingual.encoders.trained_dual_encoder import CANDIDATE, QUERY
from xlingual.models.dual_encoder import DualEncoder
from xlingual.training.recipe import Loss
from xlingual.training.recipes.dual_inputs import Inputs
from xlingual.training.recipes.dual_options import DualOptions
from xlingual.training.recipes.regimes import PairBatch, batches_of_epoch, make_regime
from xlingual.training.recipes.softmax import softmax_loss


@dataclass(frozen=True)
class DualBatch:
    """A batch of b pairs: what the towers take, and which answers are right for which question [b, b]."""

    pairs: PairBatch
    questions: tuple[Tensor, ...]
    answers: tuple[Tensor, ...]
    right: Tensor | None


class DualRecipe:
    """A model, its batches and its loss, for the fit loop.

    Raises InputError where the data does not have what the regime needs.
    """

    def __init__(
        self, model: DualEncoder, data: ParallelQuestions, inputs: Inputs, options: DualOptions
    ) -> None:
        self.model, self.data, self.inputs, self.options = model, data, inputs, options
        self._regime = make_regime(options.regime, data, options.batch, options.seed, options.language)
        question, answer = data.right
        self._right = np.unique(self._codes(question, answer))

    def steps(self, epoch: int) -> int:
        """Return how many batches an epoch has."""
        return self.options.steps or self._regime.batches_of_a_pass

    def batches(self, epoch: int) -> Iterator[DualBatch]:
        """Yield the batches of an epoch: a pure function of the seed and the epoch."""
        for pairs in batches_of_epoch(self._regime, epoch, self.steps(epoch)):
            yield DualBatch(
                pairs,
                self.inputs.of(QUERY, pairs.asked),
                self.inputs.of(CANDIDATE, pairs.answered),
                torch.from_numpy(self.right(pairs)) if self.options.false_negatives == "mask" else None,
            )

    def loss(self, batch: DualBatch, /) -> Loss:
        """Return the mean loss of the pairs of a batch; `right` is the share that is ranked first."""
        device = self.model.log_scale.device
        questions = self.model.encode(QUERY, *(part.to(device) for part in batch.questions))
        answers = self.model.encode(CANDIDATE, *(part.to(device) for part in batch.answers))
        with torch.autocast(device.type, enabled=False):
            found = softmax_loss(
                questions.float(),
                answers.float(),
                self.model.scale,
                positive=self.options.positive,
                sub_batch=self.options.sub_batch,
                right=None if batch.right is None else batch.right.to(device),
            )
        share = found.right / max(1, found.count)
        return Loss(found.value, 1, {"right": share, "scale": float(self.model.scale.detach())})

    def rows(self, batch: DualBatch, /) -> Sequence[str]:
        """Return the ids of the questions of a batch."""
        return [self.data.ids[row] for row in batch.pairs.question.tolist()]

    def right(self, pairs: PairBatch) -> np.ndarray:
        """Return bool [b, b]: whether answer j is right for question i, in whatever language."""
        codes = self._codes(pairs.question[:, None], pairs.answered[None, :])
        place = np.searchsorted(self._right, codes)
        found: np.ndarray = self._right[np.minimum(place, len(self._right) - 1)] == codes
        return found

    def _codes(self, question: Ints, answer: Ints) -> Ints:
        codes: Ints = question * len(self.data.answers) + answer
        return codes


def encoded(model: DualEncoder, inputs: Inputs, role: str, rows: Ints, batch: int = 256) -> Vectors:
    """Return the vectors [n, dim] of texts of a role, without dropout."""
    device, was_training = model.log_scale.device, model.training
    model.eval()
    vectors = np.empty((len(rows), model.config.dim), dtype=np.float32)
    try:
        with torch.inference_mode():
            for start in range(0, len(rows), batch):
                part = inputs.of(role, rows[start : start + batch])
                found = model.encode(role, *(tensor.to(device) for tensor in part))
                vectors[start : start + batch] = found.float().cpu().numpy()
    finally:
        model.train(was_training)
    return vectors
