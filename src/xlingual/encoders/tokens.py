"""Texts as the tokens that a network reads: counted and cut; how many a network can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints
from xlingual.errors import InputError

Features = dict[str, list[int]]  # name of an input of the network → one number for each token
_NO_LIMIT = 10**9  # tokenizers without a limit say 10³⁰
_POSITIONS = ("position_embeddings", "position_embedding", "embed_positions", "wpe")


@dataclass(frozen=True)
class Pieces:
    """What a network reads of n texts."""

    features: list[Features]  # [n], not padded
    truncated: NDArray[np.bool_]  # [n]: whether tokens of the text are left out

    @property
    def lengths(self) -> Ints:
        """Number of tokens of each piece, special ones included."""
        return np.array([len(piece["input_ids"]) for piece in self.features], dtype=np.int64)


class TextTokens:
    """A tokenizer of transformers, and how many tokens a network reads at once (None: no limit)."""

    def __init__(self, tokenizer: Any, max_length: int | None, who: str) -> None:  # noqa: ANN401
        self.tokenizer, self.max_length = tokenizer, max_length
        check_room(who, tokenizer, max_length)

    def pieces(self, texts: Sequence[str], pairs: Sequence[str] = ()) -> Pieces:
        """Make tokens of texts, cut to the limit; `pairs` are second parts that are read with them."""
        whole = self._read(texts, pairs) if len(texts) else []
        long = np.array([len(text["input_ids"]) > (self.max_length or _NO_LIMIT) for text in whole], np.bool_)
        rows = np.flatnonzero(long).tolist()
        if rows:
            cut = self._read([texts[i] for i in rows], [pairs[i] for i in rows] if pairs else (), cut=True)
            for row, shorter in zip(rows, cut, strict=True):
                whole[row] = shorter
        return Pieces(whole, long)

    def _read(self, texts: Sequence[str], pairs: Sequence[str] = (), *, cut: bool = False) -> list[Features]:
        limit = {"truncation": True, "max_length": self.max_length} if cut else {"truncation": False}
        both = [list(part) for part in (texts, pairs) if part]
        columns = self.tokenizer(*both, **limit, return_attention_mask=False, verbose=False)
        return [{name: columns[name][i] for name in columns} for i in range(len(texts))]


def chosen_limit(
    who: str,
    tokenizer: Any,  # noqa: ANN401
    asked: int | None,
    can: int | None,
) -> int | None:
    """Choose how many tokens are read at once: `asked`, else the least that settings or positions allow.

    None: no limit. `can` is how many the network can read.
    """
    own = getattr(tokenizer, "model_max_length", None)
    if not isinstance(own, int | float | None):
        raise InputError(f"{who}: model_max_length of the tokenizer must be a number, found {own!r}")
    if asked is not None and can is not None and asked > can:
        raise InputError(f"{who}: max_length={asked} is more than the {can} tokens that the model can read")
    limits = [int(min(limit, _NO_LIMIT)) for limit in (own, can) if limit]
    least = min(limits, default=_NO_LIMIT)
    return asked or (least if least < _NO_LIMIT else None)


def check_room(who: str, tokenizer: Any, max_length: int | None) -> None:  # noqa: ANN401
    """Raise InputError where special tokens leave no room for a text."""
    bare = tokenizer("a", add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
    specials = len(tokenizer("a", verbose=False)["input_ids"]) - len(bare)
    if max_length is not None and max_length <= specials:
        raise InputError(f"{who}: max_length={max_length} leaves no room beside {specials} special tokens")


def position_limit(model: Any, config: Any) -> int | None:  # noqa: ANN401  (of any library)
    """Find how many tokens a network has positions for, None where there is no limit.

    Where padding has a position, as in RoBERTa, those up to it are not for tokens.
    """
    for name, part in model.named_modules():
        places = getattr(part, "num_embeddings", None)
        if name.rpartition(".")[2] in _POSITIONS and places is not None and not name.startswith("vision"):
            padding = getattr(part, "padding_idx", None)
            return int(places) - (padding + 1 if padding is not None else getattr(part, "offset", 0))
    limit = getattr(config, "max_position_embeddings", None)
    return int(limit) if limit is not None and limit > 0 else None


def check_vocabulary(who: str, tokenizer: Any, network: Any) -> None:  # noqa: ANN401
    """Raise InputError where a word of the tokenizer has a greater number than the network has embeddings.

    Tokens that were added later do not count: some models have one for images that no text contains.
    """
    try:
        rows = network.get_input_embeddings().num_embeddings
        added = tokenizer.get_added_vocab()
        greatest = max(number for word, number in tokenizer.get_vocab().items() if word not in added)
    except (AttributeError, NotImplementedError, ValueError):  # no table of embeddings, or no words
        return
    if greatest >= rows:
        raise InputError(
            f"{who}: the tokenizer numbers its tokens up to {greatest}, and the network has embeddings of "
            f"{rows} only: they do not belong together; fetch the tokenizer that the model was trained with"
        )
