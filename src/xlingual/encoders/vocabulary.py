"""Whether a tokenizer and a network belong together: each token needs an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xlingual.encoders.tokens import Features
from xlingual.errors import InputError


def embedding_rows(model: Any) -> int | None:  # noqa: ANN401  (a network of transformers)
    """Return how many tokens a network has embeddings of, None where it does not tell."""
    try:
        table = model.get_input_embeddings()
    except (AttributeError, NotImplementedError):
        return None
    rows = getattr(table, "num_embeddings", None)
    return None if rows is None else int(rows)


def check_vocabulary(who: str, tokenizer: Any, rows: int | None) -> None:  # noqa: ANN401
    """Raise InputError where a word of the tokenizer has a greater number than the network has embeddings.

    Tokens that were added later do not count: some models have one for pictures that no text contains.
    """
    if rows is None or not hasattr(tokenizer, "get_vocab"):
        return
    added = tokenizer.get_added_vocab() if hasattr(tokenizer, "get_added_vocab") else {}
    check_greatest(
        who, max((i for word, i in tokenizer.get_vocab().items() if word not in added), default=-1), rows
    )


def check_pieces(who: str, pieces: Sequence[Features], rows: int | None) -> None:
    """Raise InputError where a token of a text has no embedding."""
    if rows is not None:
        check_greatest(who, max((max(piece["input_ids"], default=-1) for piece in pieces), default=-1), rows)


def check_greatest(who: str, greatest: int, rows: int) -> None:
    """Raise InputError where the greatest number of a token is not below the number of embeddings."""
    if greatest >= rows:
        raise InputError(
            f"{who}: the tokenizer numbers its tokens up to {greatest}, and the network has embeddings of "
            f"{rows} only: they do not belong together; fetch the tokenizer that the model was trained with"
        )
