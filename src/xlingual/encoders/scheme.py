"""What a scheme is: a row of the table of `schemes`, and the settings of the caller that an adapter gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xlingual.encoders.base import Encoder
from xlingual.encoders.options import Option
from xlingual.errors import InputError
from xlingual.records import Texts

TEXTS, IMAGES = "texts", "images"
LISTS = "lists"  # of a run, which has candidates and no vectors (`evaluation.run_systems`)


@dataclass(frozen=True)
class Scheme:
    """A row of the table: what a scheme encodes, its options, and the module whose `build` makes it."""

    name: str
    takes: tuple[str, ...]  # TEXTS, IMAGES or both
    summary: str
    module: str  # imported when the scheme is used, so that unused adapters cost nothing
    argument: str | None = None  # what the argument is called; None where there is none
    options: tuple[Option, ...] = ()
    extra: str | None = None  # the optional packages it needs
    over: str = "no"  # whether it stands on another encoder, scheme:…::SPEC: "no", "may" or "must"

    @property
    def form(self) -> str:
        """How its specs are written, options apart."""
        below = {"no": "", "may": "[::SPEC]", "must": "::SPEC"}[self.over]
        return f"{self.name}:{self.argument or ''}{below}"


@dataclass(frozen=True)
class Context:
    """The caller's settings that an adapter may need."""

    languages: Sequence[str]  # of all texts
    role_languages: Mapping[str, Sequence[str]] | None = None  # role of a text → languages; None: all in each
    fit_texts: Callable[[str], Texts] | None = None  # loads the texts that `fit=` names
    seed: int = 0  # of encoders whose spec has none
    kind: str = TEXTS  # texts or images, for a scheme that takes both
    base: Encoder | None = None  # the encoder below, for a scheme that stands on another
    scheme: str = ""  # the scheme's name, for a module that several schemes share

    def loader(self, scheme: str, reference: str | None) -> Callable[[], Texts] | None:
        """Return a function that loads the texts of `fit=reference`; None where there is no reference."""
        load = self.fit_texts
        if reference is None:
            return None
        if load is None:
            raise InputError(
                f"{scheme}: nothing here loads fit={reference}; pass `fit_texts`, which loads it"
            )

        def texts() -> Texts:
            fit = load(reference)
            if not len(fit):
                raise InputError(f"{scheme}: fit={reference} names no texts: choose a split that has some")
            return fit

        return texts
