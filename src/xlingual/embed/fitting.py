"""The texts that encoders are fitted on, and the identity of an encoder's vectors in a batch.

Readers of pools are imported inside the functions: few evaluations read one, and all import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xlingual.data.manifest import Manifest, read_reference, split_reference
from xlingual.embed.encoding import Progress, VectorSource, encode
from xlingual.encoders import Encoder
from xlingual.encoders.transform import TransformedTexts
from xlingual.errors import InputError
from xlingual.records import Texts, digest
from xlingual.store import Store


def fit_texts_for(manifest: Manifest) -> Callable[[str], Texts]:
    """Return the function that loads the texts named by a spec's `fit=FILE#split`, a manifest or a pool.

    A manifest is read with the columns that the evaluated one was read with.
    """
    return lambda reference: load_fit_texts(reference, **manifest.columns)


def queries_for(manifest: Manifest) -> Callable[[str], Texts]:
    """Return the function that loads the training queries that a similarity names, with the same columns."""
    return lambda reference: load_queries(reference, **manifest.columns)


def load_fit_texts(reference: str, **columns: Any) -> Texts:  # noqa: ANN401  (options of Manifest.read)
    """Return the texts that `fit=` names: of a manifest, or of a multilingual pool, or of a part of it."""
    from xlingual.data.pools.folder import is_pool, read_pool_texts

    try:
        if is_pool(split_reference(reference)[0]):
            return read_pool_texts(reference)
        other = read_reference(reference, **columns)
    except InputError as error:
        raise InputError(f"fit={reference}: {error}") from error
    return other.texts(np.arange(len(other)))


def load_queries(reference: str, **columns: Any) -> Texts:  # noqa: ANN401  (options of Manifest.read)
    """Return the queries that `fit=` names: the questions of a pool, or the texts of a manifest."""
    from xlingual.data.pools.folder import is_pool, read_pool

    path, split, _ = split_reference(reference)
    if not is_pool(path):
        return load_fit_texts(reference, **columns)
    try:
        return read_pool(path, split=split).question_texts()
    except InputError as error:
        raise InputError(f"fit={reference}: {error}") from error


def refuse_fitted_rows(
    encoders: Mapping[str, Encoder],
    *evaluated: Texts,
    store: Store | None = None,
    progress: Progress | None = None,
) -> None:
    """Raise InputError where an encoder is fitted on texts that are to be evaluated, or lacks a language.

    Encoders that are fitted are then fitted here, before any other work; those on top of another one from
    its vectors, which the store keeps.
    """
    for encoder in encoders.values():
        encoder.check_languages([tag for texts in evaluated for tag in texts.language])
    fitted = {name: encoder.fitted_on for name, encoder in encoders.items() if encoder.fitted_on}
    digests = frozenset[bytes]().union(*(texts.row_digests() for texts in evaluated if fitted))
    for name, fitted_on in fitted.items():
        if seen := digests & fitted_on:
            raise InputError(
                f"text encoder {name!r} was fitted on {len(seen)} of the {sum(map(len, evaluated))} texts "
                "that are evaluated: choose other rows (for instance fit=FILE#train and --split test; of a "
                "repaired encoder its part for testing)"
            )
    for name, encoder in encoders.items():
        _fit(encoder, VectorSource(f"text encoder {name!r}", f"fitting: {name}", store, progress))


def _fit(encoder: Encoder, source: VectorSource) -> None:
    """Fit an encoder after the one below it."""
    if isinstance(encoder, TransformedTexts):
        _fit(encoder.base, source)
        encoder.fit_from(encode(encoder.base, encoder.chosen, source).vectors)
    else:
        encoder.fit_model()


def batch_identity(encoder: Encoder, *texts: Texts, store: Store | None = None) -> str:
    """Return what determines the vectors: the encoder's identity, and more where more counts.

    An encoder with `depends_on_batch` (one that counts words in the texts it is given) gives a text other
    vectors among other texts. A store of half precision rounds the vectors that it keeps.
    """
    if not encoder.depends_on_batch:
        return encoder.identity
    digests = frozenset[bytes]().union(*(part.row_digests() for part in texts))
    return f"{encoder.identity}#among={digest(*sorted(digests)).hex()[:12]}"
