"""The losses: MLMME's ranking of images and languages, and those of Triplet and TripletXL.

Vectors are expected at unit length or zero (`models.unit`), so that products are cosines, the distance
d(a, b) = 1 − cos(a, b) of a zero vector to anything is 1, and its gradient is zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor


@dataclass(frozen=True)
class BatchView:
    """What one view (the images, or the texts of a language) gives a batch of b instances, embedded.

    `anchor` [b, d]: the vector of each instance, anything where `present` [b] (bool) is false.
    `contrast` [c, d]: the contrastive items; `groups` [c]: the group of each. An item is never contrastive to
    an instance of its group, and with `owner` [c] to that instance (0 to b − 1) alone.
    """

    anchor: Tensor
    present: Tensor
    contrast: Tensor
    groups: Tensor
    owner: Tensor | None = None

    def contrastive_to(self, rows: Tensor, groups: Tensor) -> Tensor:
        """Return which items, bool [r, c], are contrastive to the instances `rows` [r] of the groups [r]."""
        allowed = groups[:, None] != self.groups
        return allowed if self.owner is None else allowed & (rows[:, None] == self.owner)


@dataclass(frozen=True)
class MlmmeLoss:
    """The loss that is minimised, its two sums before they are weighed, and the number of positives in each.

    A positive is a pair of an anchor and what belongs to it: an image and its sentence are two, one for each
    direction.
    """

    value: Tensor  # scalar
    image: Tensor  # S_I, scalar
    sentence: Tensor  # S_S, scalar
    image_positives: int
    sentence_positives: int


def ranking_loss(
    anchor: Tensor,
    positive: Tensor,
    contrast: Tensor,
    allowed: Tensor,
    margin: float,
    hardest: bool = False,
) -> Tensor:
    """Return Σ over anchors a and contrastive items c of max(0, α − s(a, p) + s(a, c)), a scalar.

    ========  ==============  =====================================================
    anchor    float [b, d]    what the items are ranked for
    positive  float [b, d]    what belongs to each anchor
    contrast  float [c, d]    contrastive items, shared by all anchors
    allowed   bool [b, c]     which of them are contrastive to which anchor
    ========  ==============  =====================================================

    `hardest` takes for each anchor the largest term in place of the sum (VSE++: the hardest in the batch). An
    anchor to which nothing is contrastive adds nothing. The sum is divided by nothing, as the paper has it.
    References: Kiros et al. 2014 (the sum), Faghri et al. 2018 (the hardest).
    """
    if not contrast.shape[0] or not anchor.shape[0]:
        return anchor.sum() * 0.0
    own = (anchor * positive).sum(1, keepdim=True)  # [b, 1]
    cost = torch.relu(margin - own + anchor @ contrast.T).masked_fill(~allowed, 0.0)  # [b, c]
    return cost.amax(1).sum() if hardest else cost.sum()


def both_ways(
    first: BatchView, second: BatchView, groups: Tensor, margin: float, hardest: bool = False
) -> tuple[Tensor, int]:
    """Return the ranking loss of two views in both directions, and the number of its positives.

    Only instances that have both views count; `groups` [b] is the group of each instance.
    """
    rows = torch.nonzero(first.present & second.present).flatten()
    one, other, own = first.anchor[rows], second.anchor[rows], groups[rows]
    forth = ranking_loss(one, other, second.contrast, second.contrastive_to(rows, own), margin, hardest)
    back = ranking_loss(other, one, first.contrast, first.contrastive_to(rows, own), margin, hardest)
    return forth + back, 2 * len(rows)


def mlmme_loss(
    images: BatchView | None,
    texts: Mapping[str, BatchView],
    groups: Tensor,
    *,
    beta: float,
    margin: float,
    hardest: bool = False,
    pairs: str = "sum",
) -> MlmmeLoss:
    """Return β·S_I + (1 − β)·S_S for a batch.

    S_I sums `both_ways` of the images and each of K languages, S_S the same of pairs of languages; `pairs`:

    - `ordered-sum`: over all k and all l ≠ k, equation 2 of the paper as printed. Both orders of a pair have
      the same value, which is computed once and counted twice;
    - `sum`: over unordered pairs, half of that;
    - `mean`: as `sum`, S_I divided by K and S_S by the K(K − 1)/2 pairs.

    Equal ratios of S_I and S_S have β = b for `ordered-sum`, b/(2 − b) for `sum`, b/(b + (K − 1)(1 − b)) for
    `mean`. A sum with the weight 0 is not computed. One language and β = 1 is the loss of VSE. Pair with
    `samplers.BatchSampler`. Reference: Calixto, Liu and Campbell 2017, equations 1 to 3.
    """
    views = list(texts.values())
    zero = torch.zeros((), device=groups.device)
    image = sentence = zero
    n_image = n_sentence = 0
    if images is not None and beta > 0:
        for view in views:
            loss, count = both_ways(images, view, groups, margin, hardest)
            image, n_image = image + loss, n_image + count
    language_pairs = list(combinations(views, 2)) if beta < 1 else []
    for one, other in language_pairs:
        loss, count = both_ways(one, other, groups, margin, hardest)
        sentence, n_sentence = sentence + loss, n_sentence + count
    if pairs == "ordered-sum":
        sentence, n_sentence = 2 * sentence, 2 * n_sentence
    if pairs == "mean":
        image, sentence = image / len(views), sentence / max(1, len(language_pairs))
    return MlmmeLoss(beta * image + (1 - beta) * sentence, image, sentence, n_image, n_sentence)


def triplet_loss(body: Tensor, title: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Return max(0, d(b, t) − d(b, n) + α) of each text, float [m].

    ========  ==============  ===============================
    body      float [m, d]    the anchors
    title     float [m, d]    the title of each
    negative  float [m, d]    the title of another text
    ========  ==============  ===============================

    Pair with `recipes.triplet.TripletBatches`. Reference: the Backretrieval paper, section 3.2, equation 1.
    """
    return torch.relu((body * negative).sum(1) - (body * title).sum(1) + margin)


def nearest_of_languages(
    closeness: Tensor, language: Tensor, allowed: Tensor, languages: int, k: int
) -> Tensor:
    """Return the k nearest titles of each language for each body, int64 [m, languages, k].

    =========  ==============  =================================================================
    closeness  float [m, n]    of each body to each title; the largest are the nearest
    language   int64 [n]       of each title, a number below `languages`
    allowed    bool [m, n]     which titles may be a neighbour of which body: none of the same item
    =========  ==============  =================================================================

    A language that has fewer than k titles for a body gives it no neighbours: -1.
    """
    rows = closeness.shape[0]
    found = torch.full((rows, languages, k), -1, dtype=torch.int64, device=closeness.device)
    hidden = closeness.detach().masked_fill(~allowed, -torch.inf)
    for number in torch.unique(language).tolist():
        columns = torch.nonzero(language == number).flatten()
        if len(columns) < k:
            continue
        near = hidden[:, columns].topk(k, dim=1)
        enough = torch.isfinite(near.values[:, -1:])  # [m, 1]
        found[:, number] = torch.where(enough, columns[near.indices], -1)
    return found


def neighbour_term(body: Tensor, title: Tensor, neighbours: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
    """Return Σ_{l ≠ own} |mean_{n ∈ N_l} d(b, n) − mean_{n ∈ N_own} d(b, n)| of each body, float [m].

    ==========  ========================  ===============================================
    body        float [m, d]
    title       float [n, d]
    neighbours  int64 [m, languages, k]   titles nearest to each body by language, or -1
    own         int64 [m]                 the language of each body
    ==========  ========================  ===============================================

    A language without neighbours is left out of a body's sum; where it is the body's own language the sum is
    0. The second tensor, int64 [m], is the number of languages in each sum. Reference: equation 2 there.
    """
    has_neighbours = (neighbours >= 0).all(dim=2)  # [m, languages]
    distance = 1 - body @ title.T  # [m, n]
    near = distance.gather(1, neighbours.clamp_min(0).flatten(1)).unflatten(1, neighbours.shape[1:]).mean(2)
    at = own[:, None]
    counted = has_neighbours & has_neighbours.gather(1, at)
    counted = counted.scatter(1, at, torch.zeros_like(at, dtype=torch.bool))
    gap = (near - near.gather(1, at)).abs().masked_fill(~counted, 0.0)
    return gap.sum(1), counted.sum(1)
