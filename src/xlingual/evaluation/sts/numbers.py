"""From agreements to entries and summaries: one number each, means over files, and differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec.structs import replace

from xlingual.data.sentence_pairs import SentencePairs
from xlingual.evaluation.sts.agreement import (
    Agreement,
    Difference,
    dependent_difference,
    mean_of,
    resampled_difference,
)
from xlingual.evaluation.sts.replicates import pearson
from xlingual.measures.agreement import PearsonCorrelation, SpearmanCorrelation
from xlingual.records import Floats
from xlingual.results import Behind, Entry, Summary
from xlingual.results.views import AgreementAgainst, StsViews
from xlingual.signature import CONVENTIONS, Signature
from xlingual.stats.corrections import holm

NAME = "sts"
PEARSON, SPEARMAN = PearsonCorrelation.name, SpearmanCorrelation.name
MEASURES = (PEARSON, SPEARMAN)
CHANCE = 0.0

Views = dict[str, Any]


@dataclass
class NumberTable:
    """Agreements by (measure, encoder, file number), and what they are held against."""

    language: str
    files: Sequence[SentencePairs]
    encoders: Sequence[str]
    baseline: str | None
    seed: int
    identities: dict[tuple[str, int], str] = field(default_factory=dict)  # by encoder and file
    cosines: dict[tuple[str, int], Floats] = field(default_factory=dict)
    found: dict[tuple[str, str, int], Agreement] = field(default_factory=dict)

    def entries(self) -> list[Entry]:
        """Return one entry for each encoder, file and measure, with its difference to the baseline.

        Where no baseline is named, that is the encoder of the highest mean over files.
        """
        views = {measure: self._views(measure) for measure in MEASURES}
        return [
            self._entry(measure, encoder, number, views[measure].get((encoder, number)))
            for encoder in self.encoders
            for number in range(len(self.files))
            for measure in MEASURES
        ]

    def _entry(self, measure: str, encoder: str, number: int, views: StsViews | None) -> Entry:
        file, own = self.files[number], self.found[measure, encoder, number]
        conditions = {
            "task": NAME,
            "source": self.language,
            "target": file.name,
            "data": file.digest[:12],
            "measure": measure,
            "conventions": CONVENTIONS,
        }
        return Entry(
            task=NAME,
            source=self.language,
            target=file.name,
            encoder=encoder,
            image_encoder=None,
            measure=measure,
            value=own.value,
            ci=own.ci,
            chance=CHANCE,
            oracle=None,
            ceiling=None,
            normalized=None,
            n_source=len(file),
            n_target=len(file),
            n_tied=None,
            seed=self.seed,
            signature=str(Signature(conditions, {"encoder": self.identities[encoder, number]})),
            note=own.note,
            views=views,
        )

    def _views(self, measure: str) -> dict[tuple[str, int], StsViews]:
        """Return what an entry says beside its number: differences to the baseline, per file and on average.

        p-values are corrected over all encoders and files (Holm).
        """
        reference = self.baseline or self._leader(measure, range(len(self.files)))
        if reference is None:
            return {}
        found: dict[tuple[str, int], StsViews] = {}
        for encoder in self.encoders:
            if encoder == reference:
                continue
            over = self._difference(measure, encoder, reference, range(len(self.files)))
            for number in range(len(self.files)):
                own = self._difference(measure, encoder, reference, [number])
                found[encoder, number] = StsViews(
                    _against(reference, own), _against(reference, over) if len(self.files) > 1 else None
                )
        tested = {key: one.against for key, one in found.items() if one.against and one.against.p is not None}
        corrected = holm(np.array([one.p for one in tested.values()]))
        for (key, one), p in zip(tested.items(), corrected, strict=True):
            found[key] = replace(found[key], against=replace(one, p_holm=float(p)))
        return found

    def summaries(self) -> list[Summary]:
        """Return the agreements by file, then their means over files, each with the distance to the best."""
        every = range(len(self.files))
        groups = [[number] for number in every] + [list(every)]
        return [
            self._summary(measure, encoder, numbers, overall=place == len(self.files))
            for measure in MEASURES
            for place, numbers in enumerate(groups)
            for encoder in self.encoders
        ]

    def _summary(self, measure: str, encoder: str, numbers: Sequence[int], *, overall: bool) -> Summary:
        own = self._mean(measure, encoder, numbers)
        leader = self._leader(measure, numbers)
        behind = None
        if leader is not None and leader != encoder:
            gap = self._difference(measure, leader, encoder, numbers)
            behind = None if gap is None else Behind(leader, gap.value, gap.ci)
        return Summary(
            task=NAME,
            source=None if overall else self.language,
            target=None if overall else self.files[numbers[0]].name,
            encoder=encoder,
            image_encoder=None,
            measure=measure,
            value=own.value,
            ci=own.ci,
            chance=CHANCE,
            oracle=None,
            ceiling=None,
            normalized=None,
            ci_simultaneous=own.simultaneous(len(self.encoders) * (1 if overall else len(self.files))),
            n_pairs=len(numbers),
            n_seeds=1,
            sd_seeds=None,
            behind=behind,
            note=own.note,
        )

    def _mean(self, measure: str, encoder: str, numbers: Sequence[int]) -> Agreement:
        return mean_of([self.found[measure, encoder, number] for number in numbers])

    def _leader(self, measure: str, numbers: Sequence[int]) -> str | None:
        values = {encoder: self._mean(measure, encoder, numbers).value for encoder in self.encoders}
        known = {encoder: value for encoder, value in values.items() if value is not None}
        return max(known, key=lambda encoder: known[encoder]) if known else None

    def _difference(self, measure: str, one: str, other: str, numbers: Sequence[int]) -> Difference | None:
        """Return the agreement of one encoder less that of another; Pearson's of a file is tested."""
        a, b = (self._mean(measure, encoder, numbers) for encoder in (one, other))
        if measure != PEARSON or len(numbers) > 1:
            return resampled_difference(a, b)
        number = numbers[0]
        x, y = self.cosines[one, number], self.cosines[other, number]
        r_ab = float(pearson(x, y)[0])
        return dependent_difference(a, b, (x, y), self.files[number].score, r_ab)


def _against(baseline: str, found: Difference | None) -> AgreementAgainst | None:
    """Return a difference to the baseline as what results.json holds; None where there is none."""
    if found is None:
        return None
    return AgreementAgainst(baseline, found.value, found.ci, found.p, found.test, found.note)
