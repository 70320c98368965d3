"""`translate:…::SPEC`: texts are translated into one language, and encoded by the encoder below."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xlingual.encoders.base import Adapter, Encoder
from xlingual.encoders.dictionary import DictionaryTranslator, Translator
from xlingual.encoders.options import MODEL, Option, not_empty, one_of, whole_number
from xlingual.encoders.runtime import distinct_rows, rows_by_language
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.encoders.segment import UnknownWords
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError
from xlingual.records import Encoded, Texts

if TYPE_CHECKING:
    from xlingual.encoders.translation_model import TranslationModel

SCHEME = Scheme(
    "translate",
    (TEXTS,),
    "translates word by word or with a model, then encodes with the encoder below",
    __name__,
    argument="DICT.tsv or hf-MODEL",
    options=(
        Option("to", not_empty, "en", "language that texts are translated to"),
        *MODEL,
        Option("beams", whole_number(1), 1, "width of the model's search"),
        Option("unknown", one_of("keep", "drop"), "keep", "words that the dictionary does not have"),
    ),
    over="must",
)

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
        # of candidates that are searched, by language and text: their translations, and whether they were cut
        self._known: dict[tuple[str, str], tuple[str, bool]] = {}

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
        kept = copy(self)
        kept._known = dict(self._known)
        translated, _ = kept.translated(candidates, keep=True)
        found = kept.on(self.base.over(translated))
        assert isinstance(found, TranslatingEncoder)
        return found

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return the vectors of the translations, and which texts were cut before or after."""
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

    def translated(self, batch: Texts, *, keep: bool = False) -> tuple[Texts, NDArray[np.bool_]]:
        """Return the batch in the language `to`, and which of its texts were cut, bool [n].

        What was translated with `keep` is not translated again.
        """
        reads = self.base.content or ("context",)
        columns = [batch.text, *([batch.context] if batch.context and "context" in reads else [])]
        answer, cut = [list(column) for column in columns], np.zeros(len(batch), dtype=np.bool_)
        for tag, where in rows_by_language(batch):
            if is_same_language(tag, self.to):
                continue
            rows = where.tolist()
            distinct, index = distinct_rows(column[row] for column in columns for row in rows)
            new = [text for text in distinct if (tag, text) not in self._known]
            known = self._known if keep else ChainMap({}, self._known)
            if new:
                found = self.translator.translate(new, tag)
                pairs = zip(found.text, found.truncated, strict=True)
                known.update(((tag, text), pair) for text, pair in zip(new, pairs, strict=True))
                self._unknown.add(tag, found.unknown, found.words)
            for number, (target, row) in zip(index.tolist(), product(answer, rows), strict=True):
                target[row], was_cut = known[tag, distinct[number]]
                cut[row] |= was_cut
        return replace(
            batch,
            text=answer[0],
            context=answer[1] if len(answer) > 1 else (),
            language=[self.to] * len(batch),
            fields={},
            numberings=(),
        ), cut


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
    for option in SCHEME.options:
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
