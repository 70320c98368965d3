"""How texts are compared: by cosine, or with hubs corrected by a bank of training queries.

The bank's queries are not evaluated; their vectors are those of each encoder. An encoder may bring a
correction with its bank, as a repaired one does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xlingual.embed.encoding import Progress
from xlingual.embed.sides import embed_bank
from xlingual.encoders import Encoder
from xlingual.encoders.spec import parse
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn
from xlingual.evaluation.run_systems import RunSystem
from xlingual.ranking import Bank, Banked, Correction, Csls, InvertedSoftmax
from xlingual.ranking.hubs import LARGEST_BETA, LEAST_BETA
from xlingual.records import HubCorrection, Texts, digest
from xlingual.store import Store

COSINE = "cosine"
_WORD = re.compile(r"([\w-]+):?(?:\?(.*))?")
_FORMS: Mapping[str, tuple[Callable[[str], Correction], str, str, str]] = {
    # by its word: how it is made of its number, the number's name, an example, what the number is
    "csls": (lambda k: Csls(int(k)), "k", "csls?k=10", "k, a whole number of nearest texts, 1 at least"),
    "inverted-softmax": (
        lambda beta: InvertedSoftmax(float(beta)),
        *("beta", "inverted-softmax?beta=20", f"beta, a number from {LEAST_BETA:g} to {LARGEST_BETA:g}"),
    ),
}


@dataclass(frozen=True)
class Fitted:
    """A correction of hubs and the place of its bank of training queries, before these have vectors."""

    correction: Correction
    fit: str
    written: str


def repair_of(similarity: str) -> Fitted | None:
    """Read the correction of hubs that a similarity stands for, None for plain cosine.

    >>> repair_of("csls?k=5&fit=products.parquet#train").correction
    Csls(k=5)

    Raises InputError where a similarity is not known.
    """
    if similarity == COSINE:
        return None
    correction, fit = _read(similarity, with_fit=True)
    if fit is None:
        mark = "&" if "?" in similarity else "?"
        raise InputError(
            f"{parameter('similarity', similarity)} does not say which queries show what is a hub: name "
            f"training queries, which are not evaluated: {similarity}{mark}fit=FILE#train"
        )
    return Fitted(correction, fit, similarity)


def correction_of(written: str) -> Correction:
    """Read the correction of hubs that a similarity without fit= stands for, such as "csls?k=10"."""
    return _read(written, with_fit=False)[0]


def _read(similarity: str, *, with_fit: bool) -> tuple[Correction, str | None]:
    """Read a correction and what follows fit=; raise InputError where one is not known or makes no sense."""
    match = _WORD.fullmatch(similarity) if isinstance(similarity, str) else None
    word = match[1] if match else similarity
    name = parameter("similarity", similarity)
    if word not in _FORMS:
        every = f"{COSINE}, {' or '.join(f'{word}?fit=FILE#train' for word in _FORMS)}"
        raise InputError(
            f"{name} is not known: expected {every}.{did_you_mean(str(word), (COSINE, *_FORMS))}"
        )
    make, number, example, meaning = _FORMS[word]
    try:
        options = dict(written := parse(similarity, {word}).options)
        fit = options.pop("fit", None) if with_fit else None
        value = options.pop(number, example.rpartition("=")[2])
        if (
            options
            or fit == ""
            or len(dict(written)) < len(written)
            or not re.fullmatch(r"[\d.]{1,9}", value)
        ):
            raise ValueError
        return make(value), fit
    except (InputError, ValueError) as error:
        more = ("; fit, the training queries (fit=FILE#train)", "&fit=FILE#train") if with_fit else ("", "")
        raise InputError(f"{name}: {word} has {meaning}{more[0]}: write {example}{more[1]}") from error


def banked(correction: HubCorrection) -> Banked:
    """Make a correction of hubs ready to rank with; raise InputError where its similarity is not known."""
    return Banked(correction_of(correction.similarity), Bank.of(correction.bank), correction.similarity)


class TrainingQueries:
    """The queries that `--similarity …&fit=FILE` names, of all languages."""

    def __init__(self, repair: Fitted, load: Callable[[str], Texts]) -> None:
        self.repair, self.texts = repair, load(repair.fit)
        self._last: tuple[tuple[str, ...], Bank] | None = None

    @cached_property
    def name(self) -> str:
        """The similarity's name in signatures: with a digest of all rows that the bank is named by."""
        rows, name = digest(*sorted(self.texts.row_digests())).hex()[:12], self.repair.correction.name
        return f"{name}{'&' if '?' in name else '?'}fit={rows}"

    def refuse(self, evaluated: Sequence[Texts]) -> None:
        """Raise InputError where a row of the bank is evaluated."""
        rows = frozenset[bytes]().union(*(texts.row_digests() for texts in evaluated))
        if seen := self.texts.row_digests() & rows:
            raise InputError(
                f"{parameter('similarity', self.repair.written)}: {len(seen)} of the {len(self.texts)} "
                "training queries are among the texts that are evaluated: choose other rows (for instance "
                "fit=FILE#train and --split test)"
            )

    def bound(
        self,
        name: str,
        encoder: Encoder,
        languages: Sequence[str],
        *,
        store: Store | None,
        progress: Progress | None,
    ) -> Banked:
        """Bind the correction to an encoder's vectors of the training queries in some languages.

        The last ones stay in memory: several passes of one encoder ask for them. Raises InputError where no
        query is in one of the languages.
        """
        key = (name, encoder.identity, *sorted(languages))
        if self._last is None or self._last[0] != key:
            rows = [row for row, tag in enumerate(self.texts.language) if tag in languages]
            if not rows:
                raise InputError(
                    f"{parameter('similarity', self.repair.written)}: the training queries are in "
                    f"{listed(sorted(set(self.texts.language)), 20)}, and those that are evaluated in "
                    f"{listed(languages, 20)}: name others with fit="
                )
            texts = self.texts.take(np.array(rows, dtype=np.int64))
            texts = replace(texts, role="query") if encoder.by_role else texts
            self._last = key, Bank.of(embed_bank(texts, name, encoder, store=store, progress=progress))
        return Banked(self.repair.correction, self._last[1], self.name)


class OwnCorrections:
    """Corrections of hubs that encoders bring along, for a run whose similarity is the plain cosine."""

    def __init__(self) -> None:
        self.similarities: dict[str, str] = {}  # by encoder, as they are written without fit=
        self._encoders: dict[str, HubCorrection] = {}
        self._last: tuple[str, Banked] | None = None

    def take(self, systems: Mapping[str, Encoder | RunSystem], *, used: bool = True) -> None:
        """Take those of some encoders; raise InputError where one is not known, or cannot be used.

        `used`: False for a task without corrections of hubs, which then warns of each.
        """
        for name, encoder in systems.items():
            correction = encoder.hub_correction if isinstance(encoder, Encoder) else None
            if correction is not None and not used:
                warn(
                    f"text encoder {name!r} was chosen with a correction of hubs ({correction.similarity}), "
                    "which this task has not: here its vectors are compared by cosine"
                )
            elif correction is not None:
                correction_of(correction.similarity)
                self._encoders[name], self.similarities[name] = correction, correction.similarity

    def bound(self, name: str) -> Banked | None:
        """Bind the correction of an encoder, None where it has none; the last bank stays in memory."""
        if name not in self._encoders:
            return None
        if self._last is None or self._last[0] != name:
            self._last = name, banked(self._encoders[name])
        return self._last[1]
