"""Triplet and TripletXL: two dense layers over the frozen vectors of a text's title and of its body.

    x_t = ReLU(W_2 ReLU(W_1 t + c_1) + c_2),   x_b the same of b;   t, b: vectors of a frozen text encoder

One set of weights serves both (siamese) unless the towers are separate. A text is represented by x_t and x_b
together. With `scaling="unit"` each of them has length 1 first, so that the cosine of two representations is
the mean of the cosines of their titles and of their bodies; "raw" takes them as they are, so that the longer
half counts more. All ReLU outputs of a text may be zero: its half is then zero, in both scalings.

The two recipes differ in their losses only. Reference: the Backretrieval paper, section 3.2.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from xlingual.models.configs import TripletConfig
from xlingual.models.unit import side_by_side
from xlingual.streams import stream


class Tower(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """Two dense layers with a ReLU after each: base → hidden → out."""

    def __init__(self, config: TripletConfig) -> None:
        super().__init__()
        self.first = nn.Linear(config.base_dim, config.hidden_dim)
        self.second = nn.Linear(config.hidden_dim, config.out_dim)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return float [n, out], nothing below 0, for float [n, base]."""
        return torch.relu(self.second(torch.relu(self.first(vectors))))


class Triplet(nn.Module):  # type: ignore[misc]
    """The network. Its weights depend on the configuration and the seed alone.

    Without a seed they are left empty, to be loaded. Names of weights: `towers.both.first.weight` and the
    like, `towers.title` and `towers.body` where the towers are separate.
    """

    def __init__(self, config: TripletConfig, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        with torch.device("meta"):  # without numbers: torch would draw them from its global state
            self.towers = nn.ModuleDict({name: Tower(config) for name in config.towers})
        self.to_empty(device="cpu")
        if seed is not None:
            for name, weight in self.named_parameters():
                _begin(name, weight, seed)

    def title(self, vectors: Tensor) -> Tensor:
        """Return x_t, float [n, out], for the base's vectors of titles [n, base]."""
        tower: Tensor = self.towers[self.config.towers[0]](vectors)
        return tower

    def body(self, vectors: Tensor) -> Tensor:
        """Return x_b, float [n, out], for the base's vectors of bodies [n, base]."""
        tower: Tensor = self.towers[self.config.towers[-1]](vectors)
        return tower

    def represent(self, title: Tensor, body: Tensor) -> Tensor:
        """Return float [n, 2·out]: x_t and x_b side by side, for the base's vectors [n, base] of both."""
        return side_by_side(self.title(title), self.body(body), self.config.scaling)

    forward = represent


@torch.no_grad()  # type: ignore[untyped-decorator]
def _begin(name: str, weight: Tensor, seed: int) -> None:
    """Draw a matrix uniformly as Glorot and Bengio (2010) have it, from its own stream; biases are 0."""
    if name.endswith("bias"):
        weight.zero_()
        return
    draw = torch.Generator().manual_seed(int(stream(seed, f"triplet {name}").integers(2**63)))
    nn.init.xavier_uniform_(weight, generator=draw)
