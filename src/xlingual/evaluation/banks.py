"""The bank of a run: training queries, which are not evaluated, and their vectors by each encoder.

An encoder may bring its own along, as a repaired one does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from xlingual.embed.encoding import Progress
from xlingual.embed.sides import embed_bank
from xlingual.encoders import Encoder
from xlingual.encoders.base import Adapter
from xlingual.errors import InputError, listed, parameter, warn
from xlingual.evaluation.run_systems import RunSystem
from xlingual.evaluation.similarities import Fitted, correction_of
from xlingual.ranking import Bank, Banked
from xlingual.records import HubCorrection, Texts, digest
from xlingual.store import Store


class TrainingQueries:
    """The queries that `--similarity …&fit=FILE` names, of all languages."""

    def __init__(self, repair: Fitted, load: Callable[[str], Texts]) -> None:
        self.repair, self.texts = repair, load(repair.fit)
        self._missing: set[str] = set()
        self._kept: tuple[tuple[str, ...], Bank] | None = None

    @cached_property
    def name(self) -> str:
        """What signatures call the similarity: with a digest of all rows that the bank is named by."""
        rows = digest(*sorted(self.texts.row_digests())).hex()[:12]
        own = self.repair.correction.name
        return f"{own}{'&' if '?' in own else '?'}fit={rows}"

    def refuse(self, evaluated: Sequence[Texts]) -> None:
        """Raise InputError where a row of the bank is evaluated."""
        seen = self.texts.row_digests() & frozenset[bytes]().union(*(one.row_digests() for one in evaluated))
        if seen:
            raise InputError(
                f"{parameter('similarity', self.repair.written)}: {len(seen)} of the {len(self.texts)} "
                "training queries are among the texts that are evaluated: choose other rows (for instance "
                "fit=FILE#train and --split test)"
            )

    def of(self, languages: Sequence[str]) -> Texts:
        """Return those in some languages; warn of a language without any, and raise InputError for none."""
        rows = [row for row, tag in enumerate(self.texts.language) if tag in languages]
        found = sorted(set(self.texts.language))
        if not rows:
            raise InputError(
                f"{parameter('similarity', self.repair.written)}: the training queries are in "
                f"{listed(found, 20)}, and those that are evaluated in {listed(languages, 20)}: name others "
                "with fit="
            )
        missing = [tag for tag in languages if tag not in found and tag not in self._missing]
        if missing:
            self._missing.update(missing)
            warn(
                f"similarity {self.repair.written!r}: no training query is in {listed(missing, 20)}: hubs of "
                f"queries in these languages are repaired by those in {listed(found, 20)}"
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
        """Return the repair with the vectors of the training queries in some languages by an encoder.

        The last ones are kept: several passes of one encoder ask for them.
        """
        key = (name, encoder.identity, *sorted(languages))
        if self._kept is None or self._kept[0] != key:
            texts = self.of(languages)
            if roles and encoder.by_role:
                texts = replace(texts, role="query")
            vectors = embed_bank(texts, name, encoder, store=store, progress=progress)
            self._kept = key, Bank.of(vectors)
        return Banked(self.repair.correction, self._kept[1], self.name)


def banked(own: HubCorrection) -> Banked:
    """Return a correction of hubs ready to rank with; raise InputError where its similarity is not known."""
    return Banked(correction_of(own.similarity), Bank.of(own.bank), own.similarity)


class OwnCorrections:
    """Corrections of hubs that encoders bring along, for a run whose similarity is the plain cosine."""

    def __init__(self) -> None:
        self.similarities: dict[str, str] = {}  # by encoder, as they are written without fit=
        self._encoders: dict[str, HubCorrection] = {}
        self._kept: tuple[str, Banked] | None = None

    def take(self, systems: Mapping[str, Encoder | RunSystem], *, used: bool = True) -> None:
        """Take those of some encoders; raise InputError where one is not known, or cannot be used.

        `used`: False for a task without corrections of hubs, which then warns of each.
        """
        for name, encoder in systems.items():
            own = encoder.hub_correction if isinstance(encoder, Encoder) else None
            if own is None:
                _warn_of_one_below(name, encoder)
                continue
            if not used:
                warn(
                    f"text encoder {name!r} was chosen with a correction of hubs ({own.similarity}), which "
                    "this task has not: here its vectors are compared by cosine"
                )
                continue
            correction_of(own.similarity)
            self._encoders[name], self.similarities[name] = own, own.similarity

    def bound(self, name: str) -> Banked | None:
        """Return that of an encoder, None where it has none; the last one's bank is kept."""
        if name not in self._encoders:
            return None
        if self._kept is None or self._kept[0] != name:
            self._kept = name, banked(self._encoders[name])
        return self._kept[1]


def _warn_of_one_below(name: str, encoder: Encoder | RunSystem) -> None:
    """Warn where an encoder stands on one with a correction of hubs, which is of that one's vectors."""
    below = encoder
    while isinstance(below, Adapter):
        below = below.base
        if below.hub_correction is not None:
            warn(
                f"text encoder {name!r} stands on one that was chosen with a correction of hubs "
                f"({below.hub_correction.similarity}), and is ranked without it: the correction is of the "
                "vectors below"
            )
            return
