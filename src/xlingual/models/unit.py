"""Rows at unit length, with a gradient that is finite everywhere; and two of them side by side."""

from __future__ import annotations

import torch
from torch import Tensor


def unit(vectors: Tensor) -> Tensor:
    """Return the rows [n, d] at unit length; a zero row stays zero and gets no gradient. At least float32.

    A row whose length is too large for its type is NaN, so that a training that runs away is noticed.
    """
    if vectors.dtype in (torch.float16, torch.bfloat16):
        vectors = vectors.float()
    square = vectors.square().sum(dim=-1, keepdim=True)
    is_nonzero = square > 0
    scale = torch.where(is_nonzero, square, 1).rsqrt().masked_fill(square.isinf(), torch.nan)
    return torch.where(is_nonzero, vectors * scale, 0)


def side_by_side(title: Tensor, body: Tensor, scaling: str) -> Tensor:
    """Return [n, 2·d], title before body [n, d]; with `scaling` "unit" each has length 1 first."""
    halves = [unit(title), unit(body)] if scaling == "unit" else [title, body]
    return torch.cat(halves, dim=-1)
