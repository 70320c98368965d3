"""In-batch sampled softmax: each question is to pick its own answer among those of the batch.

Vectors are expected at unit length, so that products are cosines. Pair with the samplers of `regimes`: which
languages meet in a batch decides what the model learns.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from xlingual.training.recipes.dual_options import POSITIVE


@dataclass(frozen=True)
class SoftmaxLoss:
    """The mean loss of the questions that have a negative, how many those are, and how many were right.

    Without any such question the value is 0 and depends on no weight.
    """

    value: Tensor  # scalar
    count: int
    right: int  # questions whose own answer scores above all their negatives


def softmax_loss(
    questions: Tensor,
    answers: Tensor,
    scale: Tensor | float,
    *,
    positive: str = "inside",
    sub_batch: int | None = None,
) -> SoftmaxLoss:
    """Return the mean over i of −s(q_i, a_i) + log Σ_j exp s(q_i, a_j), s = scale · dot product.

    ===========  ================  ===================================
    questions    float [b, d]      unit vectors
    answers      float [b, d]      answer i belongs to question i
    scale        scalar            factor of the products; may be trained
    ===========  ================  ===================================

    The negatives of question i are the answers j ≠ i of its sub-batch (rows k·sub_batch up to
    (k + 1)·sub_batch; None: the whole batch). The sum is over them; with `positive="inside"` also over i
    itself, which makes it a cross entropy, bounded by 0 from below. With "outside" it is LAReQA's equation 2:
    that one has no bound, since a larger scale lowers it for ever once the answers are ranked well, so a
    trained scale needs a limit.

    References: Henderson et al. 2017 (sampled softmax); Roy et al. 2020 (the scale, sub-batches of 64).
    """
    if positive not in POSITIVE:
        raise ValueError(f"positive must be one of {', '.join(POSITIVE)}: {positive!r}")
    size = len(questions) if sub_batch is None else sub_batch
    terms, right = [], 0
    for start in range(0, len(questions), max(1, size)):
        part = slice(start, start + size)
        scores = scale * (questions[part] @ answers[part].T)  # [s, s]
        if len(scores) > 1:  # a single question has no negative
            below = scores.masked_fill(
                torch.eye(len(scores), dtype=torch.bool, device=scores.device), -torch.inf
            )
            matched = scores.diagonal()
            terms.append(torch.logsumexp(scores if positive == "inside" else below, dim=1) - matched)
            right += int((matched > below.amax(dim=1)).sum())
    if not terms:
        return SoftmaxLoss(questions.new_zeros(()), 0, 0)
    every = torch.cat(terms)
    return SoftmaxLoss(every.mean(), len(every), right)
