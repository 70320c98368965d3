"""Rows at unit length, with a gradient that is finite everywhere."""

from __future__ import annotations

import torch
from torch import Tensor


def unit(vectors: Tensor) -> Tensor:
    """Return the rows [n, d] at unit length; a zero row stays zero and gets no gradient. At least float32."""
    if vectors.dtype in (torch.float16, torch.bfloat16):
        vectors = vectors.float()
    square = vectors.square().sum(dim=-1, keepdim=True)
    there = square > 0
    return torch.where(there, vectors * torch.where(there, square, 1).rsqrt(), 0)
