"""`translate:…::SPEC`: texts are translated into one language, and encoded by the encoder below."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xlingual.encoders.base import Adapter, Encoder
from xlingual.encoders.batching import distinct_rows, rows_by_language
from xlingual.encoders.dictionary import DictionaryTranslator, Translator
from xlingual.encoders.scheme import Context
from xlingual.encoders.schemes import SCHEMES
from xlingual.encoders.segment import UnknownWords
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError
from xlingual.records import Encoded, Texts

if TYPE_CHECKING:
    from xlingual.encoders.translation_model import TranslationModel

_MODEL = "hf-"  # prefix of an argument that names a model


class TranslatingEncoder(Adapter):
    """Gives the encoder below texts of one language only: "GloVe + translations", Translate-Test.

    Texts that are in the language already pass through. Each different text is translated once. Contexts
    are translated too, unless the encoder below says (`content`) that it reads none; fields and numbers of
    rows are not passed on. What the encoder below says of itself holds for this one: where it counts words in
    the batch, they are counted in the translations, and the lengths it estimates are those before.
    """

    languages = None

    def __init__(self, base: Encoder, translator: Translator, to: str) -> None:
        super().__init__(base)
        self.translator, self.to = translator, to
        self._unknown = UnknownWords()
        # candidates, with their translations and which were cut
        self._translated: tuple[Texts, Texts, NDArray[np.bool_]] | None = None

    @property
    def identity(self) -> str:
        """The translator, the language, and the identity of the encoder below."""
        return f"translate:v1?to={self.to}&by={self.translator.identity}::{self.base.identity}"

    @property
    def content(self) -> tuple[str, ...] | None:
        """Text, language and what the encoder below reads; None where that one does not say."""
        below = self.base.content
        return None if below is None else tuple(dict.fromkeys(("text", "language", *below)))

    def check_languages(self, tags: Iterable[str], /) -> None:
        """Raise InputError where the encoder below cannot encode the translations."""
        self.base.check_languages([self.to])

    def over(self, candidates: Texts, /) -> Encoder:
        """Return the encoder on top of its base over the translations of these candidates."""
        if not (self.base.by_role and self.base.depends_on_batch):
            return self
        translated, cut = self.translated(candidates)
        found = self._on(self.base.over(translated))
        assert isinstance(found, TranslatingEncoder)
        found._translated = candidates, translated, cut
        return found

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return the vectors of the translations, and which texts were cut before or after."""
        known = self._translated
        if known is not None and _rows(batch) == _rows(known[0]):
            _, translated, cut = known
        else:
            translated, cut = self.translated(batch)
        below = self.base.encode_noting(translated)
        return Encoded(below.vectors, cut if below.truncated is None else cut | below.truncated)

    def notes(self) -> list[str]:
        """Return how many words the dictionary did not have since this was last asked, and notes from below.

        Equal texts that were translated together count once.
        """
        own = self._unknown.notes(
            "translate: of the different texts, words that the dictionary does not have"
        )
        return own + self.base.notes()

    def translated(self, batch: Texts) -> tuple[Texts, NDArray[np.bool_]]:
        """Return the batch in the language `to`, and which of its texts were cut, bool [n]."""
        reads = self.base.content or ("context",)
        columns = [batch.text, *([batch.context] if batch.context and "context" in reads else [])]
        answer, cut = [list(column) for column in columns], np.zeros(len(batch), dtype=np.bool_)
        for tag, where in rows_by_language(batch):
            if is_same_language(tag, self.to):
                continue
            rows = where.tolist()
            distinct, index = distinct_rows(column[row] for column in columns for row in rows)
            found = self.translator.translate(distinct, tag)
            for number, (target, row) in zip(index.tolist(), product(answer, rows), strict=True):
                target[row] = found.text[number]
                cut[row] |= found.truncated[number]
            self._unknown.add(tag, found.unknown, found.words)
        return replace(
            batch,
            text=answer[0],
            context=answer[1] if len(answer) > 1 else (),
            language=[self.to] * len(batch),
            fields={},
            numberings=(),
        ), cut


def _rows(batch: Texts) -> tuple[str | None, list[str], list[str], list[str]]:
    """Return what translations depend on."""
    return batch.role, list(batch.text), list(batch.language), list(batch.context)


def is_same_language(tag: str, to: str) -> bool:
    """Return whether a text of the language `tag` is in `to`: `en-GB` is in `en`, `pt-BR` not in `pt-PT`."""
    one, other = (re.split("[-_]", language.lower()) for language in (tag, to))
    return all(a == b for a, b in zip(one, other, strict=False))


def build(argument: str, options: Mapping[str, Any], context: Context) -> TranslatingEncoder:
    """Return the encoder for a spec; raise InputError where a dictionary is not there."""
    base, to = context.base, options["to"]
    assert base is not None
    if isinstance(base, VectorsEncoder):
        raise InputError(
            "translate: vectors that are read from files cannot be translated: translate before you make them"
        )
    languages = [tag for tag in context.languages if not is_same_language(tag, to)]
    return TranslatingEncoder(base, translator(argument, options, languages, to), to)


def translator(
    argument: str, options: Mapping[str, Any], languages: Sequence[str], to: str
) -> DictionaryTranslator | TranslationModel:
    """Return what translates texts of the languages into `to`: a dictionary, or a model (hf-…).

    `options` are those of the scheme, defaults filled in. Raises InputError where a file is not there.
    """
    by_model = argument.startswith(_MODEL)
    of_dictionaries, of_models = {"unknown"}, options.keys() - {"to", "unknown"}
    for option in SCHEMES["translate"].options:
        idle = option.name in (of_dictionaries if by_model else of_models)
        if idle and options[option.name] != option.default:
            kind = "dictionaries" if by_model else "models (hf-…)"
            raise InputError(f"translate: {option.name} is an option of {kind}: leave it out here")
    if by_model:
        from xlingual.encoders.translation_model import TranslationModel

        given = {name: options[name] for name in ("beams", "batch", "device", "dtype", "revision")}
        return TranslationModel(argument[len(_MODEL) :], languages, to, **given)
    dictionary = DictionaryTranslator(argument, languages, options["unknown"])
    dictionary.files.check()
    return dictionary
