"""MLMME: images and sentences of K languages in one space of unit vectors.

    text of language k:  unit(W_k · dropout(last state of GRU_k over the word vectors of k))
    image:               unit(W_I · dropout(q)),   q the vector of a frozen image encoder

Each language has its own words and GRU. W_k (without bias) is one matrix W_S for all languages, or
(`text_map` "per-language") one for each: the paper's encoders share no parameters. With one language and
β = 1 it is VSE (Kiros, Salakhutdinov and Zemel 2014). Reference: I. Calixto, Q. Liu, N. Campbell.
Multilingual multi-modal embeddings for natural language processing. 2017.

The state of a gated recurrent unit (Cho et al. 2014), as torch's `nn.GRU` defines it:

    r = σ(W_ir x + b_ir + W_hr h + b_hr)      z = σ(W_iz x + b_iz + W_hz h + b_hz)
    n = tanh(W_in x + b_in + r·(W_hn h + b_hn))      h' = (1 − z)·n + z·h
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from xlingual.models.configs import MlmmeConfig
from xlingual.models.unit import unit
from xlingual.streams import stream


class Mlmme(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """The network. Its weights depend on the configuration and the seed alone.

    A weight's numbers depend on its own name and shape: the English part of a model of two languages begins
    as that of a model of one does. Without a seed they are left empty, to be loaded.
    """

    def __init__(self, config: MlmmeConfig, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        with torch.device("meta"):  # without numbers: torch would draw them from its global state
            self.words = nn.ModuleDict(
                {
                    _key(tag): nn.Embedding(config.vocabulary_sizes[tag], config.word_dim, padding_idx=0)
                    for tag in config.languages
                }
            )
            self.sentences = nn.ModuleDict(
                {
                    _key(tag): nn.GRU(config.word_dim, config.state_dim, batch_first=True)
                    for tag in config.languages
                }
            )
            self.text = _text_map(config)
            self.picture = (
                None
                if config.picture_dim is None
                else nn.Linear(config.picture_dim, config.joint_dim, bias=config.picture_bias)
            )
            self.dropout = nn.Dropout(config.dropout)
        self.to_empty(device="cpu")
        if config.picture_dim is not None and config.standardize_pictures:
            self.register_buffer("picture_mean", torch.zeros(config.picture_dim))
            self.register_buffer("picture_sd", torch.ones(config.picture_dim))
        if seed is not None:
            for name, weight in self.named_parameters():
                _begin(name, weight, config, seed)

    def standardize(self, mean: Tensor, sd: Tensor) -> None:
        """Take the mean [p] and standard deviation [p] of the image vectors that are trained on.

        A dimension that does not vary (standard deviation 0) is only shifted.
        """
        self.picture_mean.copy_(mean)
        self.picture_sd.copy_(torch.where(sd > 0, sd, 1))

    def texts(self, language: str, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Return unit vectors float [b, joint] of texts of one language; zero where a text has no words.

        `numbers` int64 [b, t] are the words, 0 behind the end; `lengths` int64 [b] is the number in each
        text, 0 to t. Equal texts go through the GRU once; each has its own dropout.
        """
        state = last_states(self.sentences[_key(language)], self.words[_key(language)], numbers, lengths)
        state = self.dropout(state)
        if self.text is None:
            return unit(state)
        return unit((self.text[_key(language)] if isinstance(self.text, nn.ModuleDict) else self.text)(state))

    def images(self, vectors: Tensor) -> Tensor:
        """Return unit vectors float [b, joint] of images, given those of the image encoder [b, p]."""
        if self.picture is None:
            raise ValueError("this model was made without images (picture_dim is None)")
        if self.config.standardize_pictures:
            vectors = (vectors - self.picture_mean) / self.picture_sd
        if self.config.unit_pictures:
            vectors = unit(vectors)
        return unit(self.picture(self.dropout(vectors)))


def _text_map(config: MlmmeConfig) -> nn.Module | None:
    """Return the map of texts into the joint space: one for all languages, one for each, or none."""
    if not config.project_text:
        return None
    if config.text_map == "shared":
        return nn.Linear(config.state_dim, config.joint_dim, bias=False)
    maps = (nn.Linear(config.state_dim, config.joint_dim, bias=False) for _ in config.languages)
    return nn.ModuleDict(zip(map(_key, config.languages), maps, strict=True))


def _key(language: str) -> str:
    """Return the name of a language's part: "to" (Tongan) alone would clash with a method of torch."""
    return f"lang_{language}"


@torch.no_grad()  # type: ignore[untyped-decorator]
def _begin(name: str, weight: Tensor, config: MlmmeConfig, seed: int) -> None:
    """Draw a weight as the configuration says, from its own random stream."""
    draw = torch.Generator().manual_seed(int(stream(seed, f"mlmme {name}").integers(2**63)))
    part, recurrent = name.partition(".")[0], "weight_hh" in name
    if config.initial == "paper":
        if "bias" in name:
            weight.zero_()
        elif recurrent:
            for gate in weight.chunk(3):  # [h, h] each: reset, update, new
                nn.init.orthogonal_(gate, generator=draw)
        else:
            weight.normal_(0, 0.01, generator=draw)
    elif part == "words":
        weight.uniform_(-0.1, 0.1, generator=draw)
    elif part == "sentences":
        bound = config.state_dim**-0.5
        weight.uniform_(-bound, bound, generator=draw)
    elif "bias" in name:
        weight.zero_()
    else:
        nn.init.xavier_uniform_(weight, generator=draw)
    if part == "words":
        weight[0] = 0


def last_states(gru: nn.GRU, words: nn.Embedding, numbers: Tensor, lengths: Tensor) -> Tensor:
    """Compute the state [b, h] after the last word of each text: words beyond its length count for nothing.

    `numbers` int64 [b, t] are the words, `lengths` int64 [b] how many of them belong to each text, 0 to t. A
    text without words has the zero state. Equal texts go through the network once.
    """
    outside = torch.arange(numbers.shape[1], device=numbers.device) >= lengths[:, None]
    both = torch.cat([lengths[:, None], numbers.masked_fill(outside, 0)], dim=1)
    distinct, same = torch.unique(both, dim=0, return_inverse=True)
    size, numbers = distinct[:, 0].flip(0), distinct[:, 1:].flip(0)  # sorted by length: the longest first now
    some = int((size > 0).sum())
    states = words.weight.new_zeros((len(size), gru.hidden_size))
    if some:
        inputs = words(numbers[:some, : int(size[0])])
        packed = nn.utils.rnn.pack_padded_sequence(inputs, size[:some].cpu(), batch_first=True)
        last = gru(packed)[1][0]
        states = torch.cat([last, states[some:].to(last.dtype)])
    return states[len(size) - 1 - same]
