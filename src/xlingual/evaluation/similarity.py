"""How texts are compared: by cosine, or with hubs corrected by a bank of training queries.

The bank's queries are not evaluated; their vectors are those of each encoder. An encoder may bring a
correction with its bank, as a repaired one does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from xlingual.embed.encoding import Progress
from xlingual.embed.sides import embed_bank
from xlingual.encoders import Encoder
from xlingual.encoders.base import Adapter
from xlingual.encoders.spec import parse
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn
from xlingual.evaluation.run_systems import RunSystem
from xlingual.ranking import Bank, Banked, Correction, Csls, InvertedSoftmax
from xlingual.ranking.hubs import LARGEST_BETA, LEAST_BETA
from xlingual.records import HubCorrection, Texts, digest
from xlingual.store import Store

COSINE = "cosine"
_WORD = re.compile(r"([\w-]+):?(?:\?(.*))?")
_CORRECTIONS: Mapping[str, tuple[Callable[..., Correction], str]] = {
    "csls": (Csls, "k"),
    "inverted-softmax": (InvertedSoftmax, "beta"),
}
_ALL = f"{COSINE}, {' or '.join(f'{name}?fit=FILE#train' for name in _CORRECTIONS)}"
_OPTIONS = {  # an example, and the meaning
    "k": ("k=10", "k, a whole number of nearest texts, 1 at least"),
    "beta": ("beta=20", f"beta, a number from {LEAST_BETA:g} to {LARGEST_BETA:g}"),
    "fit": ("fit=FILE#train", "fit, the training queries (fit=FILE#train)"),
}


@dataclass(frozen=True)
class Fitted:
    """A correction of hubs and the place of its bank of training queries, before these have vectors."""

    correction: Correction
    fit: str
    written: str


def repair_of(similarity: str) -> Fitted | None:
    """Return the correction of hubs that a similarity stands for, None for plain cosine.

    >>> repair_of("csls?k=5&fit=products.parquet#train").correction
    Csls(k=5)

    Raises InputError where a similarity is not known.
    """
    if not isinstance(similarity, str):
        raise InputError(f"a similarity is {_ALL}, found {type(similarity).__name__}")
    match = _WORD.fullmatch(similarity)
    word, written = (match[1], match[2]) if match else (similarity, None)
    if word == COSINE and not written:
        return None
    if word not in _CORRECTIONS:
        raise InputError(
            f"{parameter('similarity', similarity)} is not known: expected {_ALL}."
            f"{did_you_mean(word, (COSINE, *_CORRECTIONS))}"
        )
    make, name = _CORRECTIONS[word]
    options = _options(similarity, word, (name, "fit"))
    if "fit" not in options:
        mark = "&" if "?" in similarity else "?"
        raise InputError(
            f"{parameter('similarity', similarity)} does not say which queries show what is a hub: name "
            f"training queries, which are not evaluated: {similarity}{mark}fit=FILE#train"
        )
    return Fitted(fit=options.pop("fit"), correction=make(**options), written=similarity)


def correction_of(written: str) -> Correction:
    """Return the correction of hubs that a similarity without fit= stands for, such as "csls?k=10"."""
    word, _, _ = written.partition("?")
    if word not in _CORRECTIONS:
        raise InputError(f"similarity {written!r} is not known; known: {', '.join(_CORRECTIONS)}")
    make, name = _CORRECTIONS[word]
    return make(**_options(written, word, (name,)))


def _options(similarity: str, word: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Read the options of a similarity; raise InputError where one is not known or makes no sense."""
    examples, meanings = zip(*(_OPTIONS[name] for name in names), strict=True)
    problem = (
        f"{parameter('similarity', similarity)}: {word} has {'; '.join(meanings)}: "
        f"write {word}?{'&'.join(examples)}"
    )
    try:
        written = parse(similarity, {word}).options
        options: dict[str, Any] = dict(written)
        options |= {"beta": float(options["beta"])} if "beta" in options else {}
    except (InputError, ValueError) as error:
        raise InputError(problem) from error
    if "k" in options:
        options["k"] = int(options["k"]) if re.fullmatch("[0-9]{1,9}", options["k"]) else 0
    sensible = (
        {*options} <= {*names}
        and len(options) == len(written)
        and options.get("k", 1) >= 1
        and LEAST_BETA <= options.get("beta", LEAST_BETA) <= LARGEST_BETA
        and options.get("fit", "a file")
    )
    if not sensible:
        raise InputError(problem)
    return options


def banked(correction: HubCorrection) -> Banked:
    """Return a correction of hubs ready to rank with; raise InputError where its similarity is not known."""
    return Banked(correction_of(correction.similarity), Bank.of(correction.bank), correction.similarity)


class TrainingQueries:
    """The queries that `--similarity …&fit=FILE` names, of all languages."""

    def __init__(self, repair: Fitted, load: Callable[[str], Texts]) -> None:
        self.repair, self.texts = repair, load(repair.fit)
        self._warned: set[str] = set()
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

    def of(self, languages: Sequence[str]) -> Texts:
        """Return those in some languages; warn of a language without any, and raise InputError for none."""
        rows = [row for row, tag in enumerate(self.texts.language) if tag in languages]
        tags = sorted(set(self.texts.language))
        if not rows:
            raise InputError(
                f"{parameter('similarity', self.repair.written)}: the training queries are in "
                f"{listed(tags, 20)}, and those that are evaluated in {listed(languages, 20)}: name others "
                "with fit="
            )
        missing = [tag for tag in languages if tag not in tags and tag not in self._warned]
        if missing:
            self._warned.update(missing)
            warn(
                f"similarity {self.repair.written!r}: no training query is in {listed(missing, 20)}: hubs of "
                f"queries in these languages are repaired by those in {listed(tags, 20)}"
            )
        return self.texts.take(np.array(rows, dtype=np.int64))

    def bound(
        self,
        name: str,
        encoder: Encoder,
        languages: Sequence[str],
        *,
        roles: bool,
        store: Store | None,
        progress: Progress | None,
    ) -> Banked:
        """Return the repair with an encoder's vectors of the training queries in some languages.

        The last ones stay in memory: several passes of one encoder ask for them.
        """
        key = (name, encoder.identity, *sorted(languages))
        if self._last is None or self._last[0] != key:
            texts = self.of(languages)
            if roles and encoder.by_role:
                texts = replace(texts, role="query")
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
            below = encoder
            while correction is None and isinstance(below, Adapter):
                below = below.base
                if below.hub_correction is not None:
                    warn(
                        f"text encoder {name!r} stands on one that was chosen with a correction of hubs "
                        f"({below.hub_correction.similarity}), and is ranked without it: the correction is "
                        "of the vectors below"
                    )
                    break
            if correction is not None and not used:
                warn(
                    f"text encoder {name!r} was chosen with a correction of hubs ({correction.similarity}), "
                    "which this task has not: here its vectors are compared by cosine"
                )
            elif correction is not None:
                correction_of(correction.similarity)
                self._encoders[name], self.similarities[name] = correction, correction.similarity

    def bound(self, name: str) -> Banked | None:
        """Return the correction of an encoder, None where it has none; the last bank stays in memory."""
        if name not in self._encoders:
            return None
        if self._last is None or self._last[0] != name:
            self._last = name, banked(self._encoders[name])
        return self._last[1]
