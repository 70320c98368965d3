"""`translate:…::SPEC`: texts are translated word by word, then encoded by the encoder below."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from xlingual.encoders.base import Adapter, Encoder
from xlingual.encoders.scheme import TEXTS, Context, Option, Scheme, not_empty, one_of
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.encoders.wordlists import LanguageFiles, UnknownWords, segment
from xlingual.errors import InputError, listed
from xlingual.records import Encoded, Texts

SCHEME = Scheme(
    "translate",
    (TEXTS,),
    "translates word by word, then encodes with the encoder below",
    __name__,
    argument="DICT.tsv",
    options=(
        Option("to", not_empty, "en", "language that texts are translated to"),
        Option("unknown", one_of("keep", "drop"), "keep", "words that the dictionary does not have"),
    ),
    over="must",
)


class TranslatingEncoder(Adapter):
    """Gives the encoder below texts of one language only: "GloVe + translations", Translate-Test.

    Each word is replaced by its first translation; words are found as `wordvec:` finds them, and punctuation
    is left out. `{lang}` in the path of the dictionary stands for the language of the source. Texts that are
    in the language already pass through. Contexts are translated too, unless the encoder below says
    (`content`) that it reads none; fields and numbers of rows are not passed on. What the encoder below says
    of itself holds for this one: where it counts words in the batch, they are counted in the translations.
    """

    languages = None

    def __init__(
        self, base: Encoder, pattern: str, languages: Sequence[str], to: str = "en", unknown: str = "keep"
    ) -> None:
        super().__init__(base)
        self.to, self.unknown = to, unknown
        sources = [tag for tag in languages if not _is_same_language(tag, to)]
        self.files = LanguageFiles(pattern, sources, "the dictionary", read_dictionary)
        self._unknown = UnknownWords()
        self._translations: dict[tuple[str, str], str] = {}  # of language and text

    @property
    def identity(self) -> str:
        """The dictionary, the language, and the identity of the encoder below."""
        by = f"dictionary:{self.files.digest}&unknown={self.unknown}"
        return f"translate:v1?to={self.to}&by={by}::{self.base.identity}"

    @property
    def content(self) -> tuple[str, ...] | None:
        """Text, language and what the encoder below reads; None where that one does not say."""
        below = self.base.content
        return None if below is None else tuple(dict.fromkeys(("text", "language", *below)))

    def check_languages(self, tags: Iterable[str], /) -> None:
        """Raise InputError where the encoder below cannot encode the translations."""
        self.base.check_languages([self.to])

    def over(self, candidates: Texts, /) -> Encoder:
        """Make the encoder on top of its base over the translations of these candidates."""
        if not (self.base.by_role and self.base.depends_on_batch):
            return self
        return self.on(self.base.over(self.translated(candidates)))

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Give the vectors of the translations, and which texts were cut."""
        return self.base.encode_noting(self.translated(batch))

    def notes(self) -> list[str]:
        """Write how many words the dictionary lacked, since last asked, and notes from below."""
        what = "translate: of the different texts, words that the dictionary does not have"
        return self._unknown.notes(what) + self.base.notes()

    def translated(self, batch: Texts) -> Texts:
        """Put the batch into the language `to`."""

        def column(texts: Sequence[str]) -> list[str]:
            return [self._translation(tag, text) for tag, text in zip(batch.language, texts, strict=True)]

        reads_context = bool(batch.context) and "context" in (self.base.content or ("context",))
        return replace(
            batch,
            text=column(batch.text),
            context=column(batch.context) if reads_context else (),
            language=[self.to] * len(batch),
            fields={},
            numberings=(),
        )

    def _translation(self, language: str, text: str) -> str:
        """Translate a text, once."""
        if _is_same_language(language, self.to):
            return text
        if (language, text) not in self._translations:
            by_language = self.files.of(language)
            words = by_language.get(language) or by_language.get("")
            if not words:
                raise InputError(
                    f"{self.files.path(language)}: has no words of the language {language}; its third column "
                    f"has {listed(by_language)}"
                )
            parts = segment(text, words)
            self._unknown.add(language, sum(not known for _, known in parts), len(parts))
            answer = [
                words[word] if known else word for word, known in parts if known or self.unknown == "keep"
            ]
            self._translations[language, text] = " ".join(answer)
        return self._translations[language, text]


def _is_same_language(tag: str, to: str) -> bool:
    """Tell whether a text of the language `tag` is in `to`: `en-GB` is in `en`, `pt-BR` not in `pt-PT`."""
    parts = (re.split("[-_]", language.lower()) for language in (tag, to))
    return all(a == b for a, b in zip(*parts, strict=False))


def read_dictionary(path: Path) -> dict[str, dict[str, str]]:
    """Read source → target for each language of the source, "" where the lines name none.

    A line is `source<TAB>target`, with a third column the language of the source where one file serves
    several; or `source target`, as MUSE writes it. Of several translations the first counts. Raises
    InputError naming the line.
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
    if isinstance(context.base, VectorsEncoder):
        raise InputError("translate: vectors of files cannot be translated: translate before you make them")
    base = cast("Encoder", context.base)
    return TranslatingEncoder(base, argument, context.languages, options["to"], options["unknown"])
