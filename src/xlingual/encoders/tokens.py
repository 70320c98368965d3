"""Texts as the tokens that a network reads: counted, cut or divided into windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints, Vectors
from xlingual.errors import InputError

Features = dict[str, list[int]]  # name of an input of the network → one number for each token

_NO_LIMIT = 10**9  # tokenizers without a limit say 10³⁰


@dataclass(frozen=True)
class Pieces:
    """What a network reads of n texts: one piece for each text, or several where windows are wanted."""

    features: list[Features]  # [pieces], not padded
    owner: Ints  # [pieces]: whose piece it is, ascending
    weight: Ints  # [pieces]: how many tokens of the text it holds
    truncated: NDArray[np.bool_]  # [n]: whether tokens of the text are in no piece

    @property
    def lengths(self) -> Ints:
        """Number of tokens of each piece, special ones included."""
        return np.array([len(piece["input_ids"]) for piece in self.features], dtype=np.int64)

    def averaged(self, vectors: Vectors) -> Vectors:
        """Return float32 [n, d]: for each text the mean of its pieces' vectors, weighted by their tokens."""
        if len(self.owner) == len(self.truncated):
            return vectors
        weight = self.weight.astype(np.float64)
        total = np.zeros((len(self.truncated), vectors.shape[1]))
        np.add.at(total, self.owner, vectors * weight[:, None])
        whole = np.bincount(self.owner, weights=weight, minlength=len(self.truncated))
        alone = np.bincount(self.owner, minlength=len(self.truncated)) == 1
        mean: Vectors = (total / np.maximum(whole, 1)[:, None]).astype(np.float32)
        mean[alone] = vectors[alone[self.owner]]
        return mean


class TextTokens:
    """A tokenizer of transformers, and how many tokens a network reads at once (None: no limit).

    With `long="windows"` a text that is too long is divided: its tokens, without special ones and without the
    prompt, are cut into windows that do not overlap, and each is read with the prompt before it and the
    special tokens around it.
    """

    def __init__(self, tokenizer: Any, max_length: int | None, long: str, who: str) -> None:  # noqa: ANN401
        self.tokenizer, self.max_length, self.long, self.who = tokenizer, max_length, long, who
        self.before, self.after = special_tokens(tokenizer)
        if max_length is not None and max_length <= self.specials:
            raise InputError(
                f"{who}: max_length={max_length} leaves no room beside {self.specials} special tokens"
            )

    @property
    def specials(self) -> int:
        """Number of special tokens around a text."""
        return len(self.before) + len(self.after)

    def pieces(self, texts: Sequence[str], pairs: Sequence[str] = (), prompt: Sequence[str] = ()) -> Pieces:
        """Return the pieces of the texts; `pairs` are second parts that are read with them.

        `prompt[i]` is what text i begins with and what every window of it must begin with.
        """
        n = len(texts)
        whole = self._read(texts, pairs) if n else []
        length = np.array([len(text["input_ids"]) for text in whole], dtype=np.int64)
        long = length > (self.max_length or _NO_LIMIT)
        rows = np.flatnonzero(long).tolist()
        owner, weight = np.arange(n), np.maximum(length - self.specials, 0)
        if not rows:
            return Pieces(whole, owner, weight, long)
        if self.long == "truncate":
            cut = self._read([texts[i] for i in rows], [pairs[i] for i in rows] if pairs else (), cut=True)
            for row, shorter in zip(rows, cut, strict=True):
                whole[row] = shorter
            return Pieces(whole, owner, weight, long)
        every = [[(piece, int(tokens))] for piece, tokens in zip(whole, weight, strict=True)]
        for row in rows:
            every[row] = self._windows(texts[row], prompt[row] if prompt else "")
        return Pieces(
            [piece for pieces in every for piece, _ in pieces],
            np.repeat(owner, [len(pieces) for pieces in every]),
            np.array([tokens for pieces in every for _, tokens in pieces], dtype=np.int64),
            np.zeros(n, dtype=np.bool_),
        )

    def prompt_length(self, prompt: str) -> int:
        """Return how many tokens a prompt has before a text."""
        return _common(_bare(self.tokenizer, prompt + "a"), _bare(self.tokenizer, prompt))

    def _read(self, texts: Sequence[str], pairs: Sequence[str] = (), *, cut: bool = False) -> list[Features]:
        """Return what the tokenizer makes of whole texts, or of texts cut to the limit."""
        limit = {"truncation": True, "max_length": self.max_length} if cut else {"truncation": False}
        both = [list(part) for part in (texts, pairs) if part]
        found = self.tokenizer(*both, **limit, return_attention_mask=False, verbose=False)
        return [{name: found[name][i] for name in found} for i in range(len(texts))]

    def _windows(self, text: str, prompt: str) -> list[tuple[Features, int]]:
        """Return the windows of one text that begins with the prompt, each with its number of tokens."""
        ids = _bare(self.tokenizer, text)
        start = _common(ids, _bare(self.tokenizer, prompt)) if prompt else 0
        room = (self.max_length or _NO_LIMIT) - self.specials - start
        if room < 1:
            raise InputError(
                f"{self.who}: max_length={self.max_length} leaves no room beside {start} tokens of the "
                f"prompt and {self.specials} special ones"
            )
        typed = "token_type_ids" in getattr(self.tokenizer, "model_input_names", ())
        windows: list[tuple[Features, int]] = []
        for part in (ids[i : i + room] for i in range(start, len(ids), room)):
            read = [*self.before, *ids[:start], *part, *self.after]
            types = {"token_type_ids": [0] * len(read)} if typed else {}
            windows.append(({"input_ids": read, **types}, len(part)))
        return windows


def padded(pieces: Sequence[Features], fill: int, width: int = 0) -> dict[str, Ints]:
    """Return the inputs, int64 [n, tokens], padded on the right, and the mask of all but the padding.

    Token numbers are padded with `fill`, to `width` at least. A text without tokens is read as one token of
    padding: attention needs one that counts.
    """
    lengths = np.array([len(piece["input_ids"]) for piece in pieces])
    width = max(int(lengths.max()), width, 1)
    mask = np.arange(width) < np.maximum(lengths, 1)[:, None]
    inputs = {"attention_mask": mask.astype(np.int64)}
    for name in pieces[0]:
        inputs[name] = np.full(mask.shape, fill if name == "input_ids" else 0, dtype=np.int64)
        for row, piece in enumerate(pieces):
            inputs[name][row, : lengths[row]] = piece[name]
    return inputs


def special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:  # noqa: ANN401
    """Return the tokens that a tokenizer puts before and after a text."""
    bare, whole = _bare(tokenizer, "a"), tokenizer("a", verbose=False)["input_ids"]
    for start in range(len(whole) - len(bare) + 1):
        if whole[start : start + len(bare)] == bare:
            return list(whole[:start]), list(whole[start + len(bare) :])
    return [], list(whole)


def stated_limit(tokenizer: Any) -> int | None:  # noqa: ANN401
    """Return the most tokens of a text that the tokenizer's settings allow, None where they say nothing."""
    stated = getattr(tokenizer, "model_max_length", None)
    if not isinstance(stated, int | float | None):
        raise InputError(
            f"model_max_length in the tokenizer's settings must be a number, found {stated!r}: fetch the "
            "model again"
        )
    limit = int(min(stated or _NO_LIMIT, _NO_LIMIT))
    return limit if limit < _NO_LIMIT else None


def chosen_limit(who: str, wanted: int | None, can: int | None, *stated: int | None) -> int | None:
    """Return how many tokens are read at once: `wanted`, else the smallest stated or possible limit.

    Raises InputError where more is wanted than the model can read.
    """
    if wanted is not None and can is not None and wanted > can:
        raise InputError(f"{who}: max_length={wanted} is more than the {can} tokens that the model can read")
    return wanted or min((limit for limit in (can, *stated) if limit is not None), default=None)


def _bare(tokenizer: Any, text: str) -> list[int]:  # noqa: ANN401
    return list(tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"])


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of what two sequences begin with in common."""
    same = [a == b for a, b in zip(one, other, strict=False)]
    return [*same, False].index(False)


def embedding_rows(model: Any) -> int | None:  # noqa: ANN401  (a network of transformers)
    """Return how many tokens a network has embeddings of, None where it does not say."""
    try:
        rows = getattr(model.get_input_embeddings(), "num_embeddings", None)
    except (AttributeError, NotImplementedError):
        return None
    return None if rows is None else int(rows)


def check_vocabulary(who: str, tokenizer: Any, rows: int | None) -> None:  # noqa: ANN401
    """Raise InputError where a word of the tokenizer has a greater number than the network has embeddings.

    Tokens that were added later do not count: some models have one for images that no text contains.
    """
    if rows is None or not hasattr(tokenizer, "get_vocab"):
        return
    added = tokenizer.get_added_vocab() if hasattr(tokenizer, "get_added_vocab") else {}
    _check_numbers(who, (i for word, i in tokenizer.get_vocab().items() if word not in added), rows)


def check_pieces(who: str, pieces: Sequence[Features], rows: int | None) -> None:
    """Raise InputError where a token of a text has no embedding."""
    if rows is not None:
        _check_numbers(who, (max(piece["input_ids"], default=-1) for piece in pieces), rows)


def _check_numbers(who: str, numbers: Iterable[int], rows: int) -> None:
    """Raise InputError where the greatest number of a token is not below the number of embeddings."""
    if (greatest := max(numbers, default=-1)) >= rows:
        raise InputError(
            f"{who}: the tokenizer numbers its tokens up to {greatest}, and the network has embeddings of "
            f"{rows} only: they do not belong together; fetch the tokenizer that the model was trained with"
        )
