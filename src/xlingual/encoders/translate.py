"""`translate:…::SPEC`: texts are translated into one language, and encoded by the encoder below."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xlingual.encoders.base import Adapter, Encoder
from xlingual.encoders.scheme import MODEL, TEXTS, Context, Option, Scheme, not_empty, one_of, whole_number
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.encoders.wordlists import LanguageFiles, Translated, UnknownWords, segment
from xlingual.errors import InputError, listed
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

    Texts that are in the language already pass through. Each different text is translated once, and its
    translation kept. Contexts are translated too, unless the encoder below says (`content`) that it reads
    none; fields and numbers of rows are not passed on. What the encoder below says of itself holds for this
    one: where it counts words in the batch, they are counted in the translations.
    """

    languages = None

    def __init__(self, base: Encoder, translator: DictionaryTranslator | TranslationModel, to: str) -> None:
        super().__init__(base)
        self.translator, self.to = translator, to
        self._unknown = UnknownWords()
        # by language and text: the translation, and whether the text was cut
        self._translations: dict[tuple[str, str], tuple[str, bool]] = {}

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
        return self.on(self.base.over(self.translated(candidates)[0]))

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return the vectors of the translations, and which texts were cut before or after."""
        translated, cut = self.translated(batch)
        below = self.base.encode_noting(translated)
        return Encoded(below.vectors, cut if below.truncated is None else cut | below.truncated)

    def notes(self) -> list[str]:
        """Return how many words the dictionary lacked since this was last asked, and notes from below."""
        what = "translate: of the different texts, words that the dictionary does not have"
        return self._unknown.notes(what) + self.base.notes()

    def translated(self, batch: Texts) -> tuple[Texts, NDArray[np.bool_]]:
        """Return the batch in the language `to`, and which of its texts were cut, bool [n]."""
        columns = [list(zip(batch.language, batch.text, strict=True))]
        if batch.context and "context" in (self.base.content or ("context",)):
            columns.append(list(zip(batch.language, batch.context, strict=True)))
        new: dict[str, dict[str, None]] = {}
        for tag, text in (pair for column in columns for pair in column):
            if not _is_same_language(tag, self.to) and (tag, text) not in self._translations:
                new.setdefault(tag, {})[text] = None
        for tag, texts in new.items():
            answer = self.translator.translate(list(texts), tag)
            pairs = zip(answer.text, answer.truncated, strict=True)
            self._translations |= {(tag, text): pair for text, pair in zip(texts, pairs, strict=True)}
            self._unknown.add(tag, answer.unknown, answer.words)
        known = self._translations
        answers = [[known.get(pair, (pair[1], False)) for pair in column] for column in columns]
        cut = np.array([[cut for _, cut in answer] for answer in answers], dtype=np.bool_)
        translated = replace(
            batch,
            text=[text for text, _ in answers[0]],
            context=[text for text, _ in answers[1]] if len(answers) > 1 else (),
            language=[self.to] * len(batch),
            fields={},
            numberings=(),
        )
        return translated, np.logical_or.reduce(cut)


def _is_same_language(tag: str, to: str) -> bool:
    """Return whether a text of the language `tag` is in `to`: `en-GB` is in `en`, `pt-BR` not in `pt-PT`."""
    one, other = (re.split("[-_]", language.lower()) for language in (tag, to))
    return all(a == b for a, b in zip(one, other, strict=False))


class DictionaryTranslator:
    """Replaces each word by its first translation; words are found as `wordvec:` finds them.

    A line of a dictionary is `source<TAB>target`, with a third column the language of the source where one
    file serves several; or `source target`, as MUSE writes it. `{lang}` in the path stands for the language
    of the source, one of the `languages` that are translated. Punctuation is left out, and with
    `unknown="drop"` unknown words are too.
    """

    def __init__(self, pattern: str, languages: Sequence[str], unknown: str = "keep") -> None:
        self.files = LanguageFiles(pattern, languages, "the dictionary", read_dictionary)
        self.unknown = unknown

    @property
    def identity(self) -> str:
        """A hash of the files, and what becomes of unknown words."""
        return f"dictionary:{self.files.digest}&unknown={self.unknown}"

    def translate(self, texts: Sequence[str], language: str) -> Translated:
        """Return the translated words of each text, with blanks between them."""
        by_language = self.files.of(language)
        words = by_language.get(language) or by_language.get("")
        if not words:
            raise InputError(
                f"{self.files.path(language)}: has no words of the language {language}; its third column has "
                f"{listed(by_language)}"
            )
        split = [segment(text, words) for text in texts]
        known = [
            [words[word] if known else word for word, known in parts if known or self.unknown == "keep"]
            for parts in split
        ]
        unknown = sum(not known for parts in split for _, known in parts)
        return Translated(list(map(" ".join, known)), [False] * len(texts), sum(map(len, split)), unknown)


def read_dictionary(path: Path) -> dict[str, dict[str, str]]:
    """Return source → target for each language of the source, "" where the lines name none.

    Of several translations the first counts. Raises InputError naming the line.
    """
    words: dict[str, dict[str, str]] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 ({error})") from error
    for number, line in enumerate(lines, 1):
        tabbed = "\t" in line
        fields = [field.strip() for field in line.split("\t" if tabbed else None)]
        if not line.strip():
            continue
        if len(fields) not in ((2, 3) if tabbed else (2,)) or not all(fields):
            raise InputError(
                f"{path}: line {number} is {line.strip()[:60]!r}: expected source<TAB>target, or with a "
                "third column source<TAB>target<TAB>language"
            )
        source, target, language = (*fields, "")[:3]
        words.setdefault(language, {}).setdefault(unicodedata.normalize("NFC", source), target)
    if not words:
        raise InputError(f"{path}: the dictionary is empty: give source<TAB>target on each line")
    return words


def build(argument: str, options: Mapping[str, Any], context: Context) -> TranslatingEncoder:
    """Make the encoder of a spec; raise InputError where a dictionary is not there."""
    base, to = context.base, options["to"]
    assert base is not None
    if isinstance(base, VectorsEncoder):
        raise InputError("translate: vectors of files cannot be translated: translate before you make them")
    by_model, kind = (True, "dictionaries") if argument.startswith(_MODEL) else (False, "models (hf-…)")
    for option in SCHEME.options:
        idle = option.name == "unknown" if by_model else option.name not in ("to", "unknown")
        if idle and options[option.name] != option.default:
            raise InputError(f"translate: {option.name} is an option of {kind}: leave it out here")
    languages = [tag for tag in context.languages if not _is_same_language(tag, to)]
    if not by_model:
        return TranslatingEncoder(base, DictionaryTranslator(argument, languages, options["unknown"]), to)
    from xlingual.encoders.translation_model import TranslationModel

    chosen = {name: options[name] for name in ("beams", "batch", "device", "dtype", "revision")}
    model = TranslationModel(argument.removeprefix(_MODEL), languages, to, **chosen)
    return TranslatingEncoder(base, model, to)
