"""The losses of Triplet and TripletXL: a body is near its own title, and no language nearer than others.

d(a, b) = 1 − cos(a, b). Vectors are expected at unit length or zero (`models.unit`), so that products are
cosines: the distance of a zero vector to anything is 1, and its gradient is zero. Pair with
`training.triplet_batches`. Reference: the Backretrieval paper, section 3.2, equations 1 and 2.
"""

from __future__ import annotations

import torch
from torch import Tensor


def triplet_loss(body: Tensor, title: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Return max(0, d(b, t) − d(b, n) + α) of each text, float [m].

    ========  ==============  ===============================
    body      float [m, d]    the anchors
    title     float [m, d]    the title of each
    negative  float [m, d]    the title of another text
    ========  ==============  ===============================
    """
    return torch.relu((body * negative).sum(1) - (body * title).sum(1) + margin)


def nearest_of_languages(
    closeness: Tensor, language: Tensor, allowed: Tensor, languages: int, k: int
) -> Tensor:
    """Return the k nearest titles of each language for each body, int64 [m, languages, k].

    =========  ==============  =================================================================
    closeness  float [m, n]    of each body to each title; the largest are the nearest
    language   int64 [n]       of each title, a number below `languages`
    allowed    bool [m, n]     which titles may be a neighbour of which body: none of its own item
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

    A language without neighbours is left out of a body's sum; where that is its own language the sum is 0.
    The second tensor, int64 [m], tells how many languages are in each sum.
    """
    there = (neighbours >= 0).all(dim=2)  # [m, languages]
    distance = 1 - body @ title.T  # [m, n]
    near = distance.gather(1, neighbours.clamp_min(0).flatten(1)).unflatten(1, neighbours.shape[1:]).mean(2)
    at = own[:, None]
    counted = there & there.gather(1, at)
    counted = counted.scatter(1, at, torch.zeros_like(at, dtype=torch.bool))
    gap = (near - near.gather(1, at)).abs().masked_fill(~counted, 0.0)
    return gap.sum(1), counted.sum(1)
