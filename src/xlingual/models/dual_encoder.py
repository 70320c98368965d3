"""A dual encoder: questions and answers as unit vectors of one space, through one tower or two.

Score of a pair: dot product. Reference: U. Roy and others. LAReQA: Language-agnostic answer retrieval from a
multilingual pool. 2020, section 4; there the tower is a network of transformers, whose first token counts.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from xlingual.models.configs import MOST_SCALE, DualEncoderConfig
from xlingual.models.unit import unit
from xlingual.streams import stream


class DualEncoder(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """The network. Its weights depend on the configuration and the seed alone, or on the `network` given.

    Towers have one set of weights unless the configuration says `separate`; then both begin alike. `network`
    is a network of transformers, for the tower `transformer`. Without a seed weights are left empty, to be
    loaded.
    """

    def __init__(
        self, config: DualEncoderConfig, seed: int | None = 0, network: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.config = config
        self.question = _tower(config, seed, network)
        self.answer = copy.deepcopy(self.question) if config.separate else None
        self.log_scale = nn.Parameter(torch.tensor(math.log(config.scale)))

    def encode(self, role: str, *inputs: Tensor) -> Tensor:
        """Return unit vectors float [b, dim] of questions ("query") or of answers ("candidate").

        `inputs` are what the tower takes. A text without any feature has the zero vector.
        """
        tower = self.question if self.answer is None or role == "query" else self.answer
        return unit(tower(*inputs))

    @property
    def scale(self) -> Tensor:
        """The factor of the products in the loss, a scalar; at most `MOST_SCALE`."""
        return self.log_scale.exp().clamp(max=MOST_SCALE)

    def set_weights(self, weights: Sequence[float]) -> None:
        """Let the features of the tower `words` begin with these weights, all above 0."""
        with torch.no_grad():
            for tower in (self.question, self.answer):
                if tower is not None:
                    tower.log_weight.copy_(torch.tensor(weights, dtype=torch.float32).log())


class WordTower(nn.Module):  # type: ignore[misc]
    """The weighted sum of the vectors of a text's features, and a layer; weights are trained too."""

    def __init__(self, config: DualEncoderConfig) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(config.features, config.dim, mode="sum")
        self.log_weight = nn.Parameter(torch.zeros(config.features))
        self.layer = Shortcut(config.dim, config.hidden) if config.hidden else None
        self.dropout = config.dropout

    def forward(self, features: Tensor, starts: Tensor) -> Tensor:
        """Return [b, dim] for features int64 [all], text i's from starts[i] up to the next one's."""
        weight = self.log_weight[features].exp()
        if self.training and self.dropout:
            weight = weight * (torch.rand_like(weight) >= self.dropout)
        bags: Tensor = self.words(features, starts, per_sample_weights=weight)
        return bags if self.layer is None else self.layer(unit(bags))


class VectorTower(nn.Module):  # type: ignore[misc]
    """A layer over the unit vectors of a frozen encoder; it begins as that encoder itself."""

    def __init__(self, config: DualEncoderConfig) -> None:
        super().__init__()
        self.dropout = nn.Dropout(config.dropout)
        self.layer = Shortcut(config.dim, config.hidden)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return [b, dim] for vectors [b, dim]; zero ones stay zero."""
        is_nonzero = vectors.any(dim=1, keepdim=True)
        found: Tensor = self.layer(self.dropout(unit(vectors))) * is_nonzero
        return found


class Shortcut(nn.Module):  # type: ignore[misc]
    """x + W₂·relu(W₁x + b₁) + b₂; W₂ and b₂ begin as zero, so that it begins as x."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x: Tensor) -> Tensor:
        """Return [b, dim] for [b, dim]."""
        return x + self.second(torch.relu(self.first(x)))


class TransformerTower(nn.Module):  # type: ignore[misc]
    """The last hidden state of the first token of a network of transformers."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, tokens: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        """Return [b, dim] for tokens, mask and, where the network reads them, types: int64 [b, t] each."""
        optional = {} if types is None else {"token_type_ids": types}
        out = self.network(input_ids=tokens, attention_mask=mask, return_dict=True, **optional)
        return wide(out.last_hidden_state[:, 0])


def wide(vectors: Tensor) -> Tensor:
    """Return vectors in 32 bits or more."""
    return vectors.float() if vectors.dtype in (torch.float16, torch.bfloat16) else vectors


def _tower(config: DualEncoderConfig, seed: int | None, network: nn.Module | None) -> nn.Module:
    if config.tower == "transformer":
        if network is None:
            raise ValueError("the tower transformer needs its network")
        return TransformerTower(network)
    with torch.device("meta"):  # without numbers: torch would draw them from its global state
        tower = WordTower(config) if config.tower == "words" else VectorTower(config)
    tower.to_empty(device="cpu")
    if seed is not None:
        for name, weight in tower.named_parameters():
            _begin(name, weight, seed)
    return tower


@torch.no_grad()  # type: ignore[untyped-decorator]
def _begin(name: str, weight: Tensor, seed: int) -> None:
    """Draw a weight from its own random stream."""
    draw = torch.Generator().manual_seed(int(stream(seed, f"dual encoder {name}").integers(2**63)))
    if name == "words.weight":  # features are nearly orthogonal at first: texts that share some are alike
        weight.normal_(0, weight.shape[1] ** -0.5, generator=draw)
    elif name == "layer.first.weight":
        nn.init.xavier_uniform_(weight, generator=draw)
    else:
        weight.zero_()
