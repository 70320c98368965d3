"""Validations of several data sets side by side: Table 1 of Fain, Twomey and Bollegala (SIGIR 2021).

Everything is taken from the validations as it is: coefficients, standard errors over seeds, and the tests of
differences. New are the correction of their p for the number of rows, and the mean over rows with its error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from msgspec import UNSET, structs

from xlingual.errors import InputError, listed
from xlingual.evaluation.metric_validation.agreement import EncoderSeries, ScoreTable, spread
from xlingual.requests.validating import ValidateBackretrievalRequest
from xlingual.results.digest import digest_of
from xlingual.results.provenance import Origin, Provenance, program
from xlingual.results.validation import COEFFICIENTS, MEASURES, TRUTH, PairValidation, Validation
from xlingual.results.validation_table import (
    CONTRASTS,
    CorrectedDifference,
    MeanAgreement,
    TableRow,
    ValidationTable,
)
from xlingual.stats.corrections import holm

ValidationLike: TypeAlias = Validation | str | Path
_NEEDED = ("data", "sample", "images", "measure", "conventions")
_OF_DATA = {
    *_NEEDED,
    "source",
    "target",
    "seeds",
    "n_source",
    "n_target",
    "n_matching",
    "n_pictures",
}  # not protocol


@dataclass(frozen=True)
class _Part:
    """One language pair of one data set, as its validation has it."""

    data_set: str
    validation: Validation
    pair: PairValidation

    @property
    def where(self) -> str:
        return f"{self.data_set} {self.pair.source}-{self.pair.target}"

    def row(self, differences: dict[str, dict[str, CorrectedDifference]]) -> TableRow:
        best: dict[str, str] = {}
        for kind in COEFFICIENTS:
            means = {name: self.pair.agreement[name][kind].mean for name in MEASURES}
            present = {name: mean for name, mean in means.items() if mean is not None}
            best |= {kind: max(present, key=present.__getitem__)} if present else {}
        shared = set(TableRow.__struct_fields__) & set(PairValidation.__struct_fields__) - {"differences"}
        return TableRow(
            data_set=self.data_set,
            image_encoder=self.validation.image_encoder,
            best=best,
            differences=differences,
            **{name: getattr(self.pair, name) for name in shared},
        )


def validation_table(
    validations: Mapping[str, ValidationLike] | Sequence[ValidationLike],
) -> ValidationTable:
    """Return the table of several validations: a row for each data set and language pair, in order.

    Args:
        validations: records, or their files or folders; a mapping names the data sets, else folders do.

    Raises:
        InputError: a file is no validation; measure, K or conventions differ; a row is there twice.

    """
    named = validations if isinstance(validations, Mapping) else _named(validations)
    read = {name: v if isinstance(v, Validation) else Validation.read(v) for name, v in named.items()}
    parts = [_Part(name, validation, pair) for name, validation in read.items() for pair in validation.pairs]
    if not parts:
        raise InputError("there is no validation with a language pair: name folders with validation.json")
    _refuse(parts)
    differences, n_tests = _corrected(parts)
    unequal = [
        f"{part.where}: XLR chooses among {part.pair.n_matching} texts, BkR among {part.pair.n_target}"
        for part in parts
        if part.pair.n_matching not in (None, part.pair.n_target)
    ]
    of_sets = [f"{name}: {warning}" for name, validation in read.items() for warning in validation.warnings]
    requests = {name: v.request for name, v in read.items() if v.request is not UNSET}
    return ValidationTable(
        measure=parts[0].validation.measure,
        rows=[part.row(tested) for part, tested in zip(parts, differences, strict=True)],
        mean=_means(parts),
        n_tests=n_tests,
        warnings=[*_protocol_warnings(parts), *unequal, *of_sets],
        timings={name: sum(validation.timings.values()) for name, validation in read.items()},
        request={"command": ValidateBackretrievalRequest.command, "sets": requests},
        provenance=Provenance(
            program(), derived_from=[Origin(v.schema(), digest_of(v)) for v in read.values()]
        ),
    )


def _named(validations: Iterable[ValidationLike]) -> dict[str, ValidationLike]:
    """Return validations by the name of their folder, or by their number."""
    named: dict[str, ValidationLike] = {}
    for number, one in enumerate(validations, 1):
        path = None if isinstance(one, Validation) else Path(one)
        folder = path.parent if path is not None and path.name == Validation.file else path
        name = f"data {number}" if folder is None else folder.absolute().name
        if name in named:
            raise InputError(f"two data sets are called {name!r}: give names, as {{'IKEA': 'out/ikea'}}")
        named[name] = one
    return named


def _refuse(parts: Sequence[_Part]) -> None:
    """Raise InputError where rows cannot stand in one table."""
    first, seen = parts[0], dict[Any, str]()
    for part in parts:
        conditions, others = part.pair.conditions, first.pair.conditions
        if lacking := [key for key in _NEEDED if key not in conditions]:
            raise InputError(
                f"{part.where} lacks the condition {listed(lacking)}: run {Validation.made_by} again"
            )
        for key, remedy in (("measure", "all with one --measure"), ("conventions", "both with one version")):
            if conditions[key] != others[key]:
                raise InputError(
                    f"the validations differ in {key}: {first.where} has {others[key]}, {part.where} has "
                    f"{conditions[key]}: validate {remedy}"
                )
        row = (*conditions.items(), frozenset(row.encoder for row in part.pair.encoders))
        if row in seen:
            raise InputError(
                f"{part.where} is {seen[row]} once more: the same row must not count twice, give one of them"
            )
        seen[row] = part.where


def _protocol_warnings(parts: Sequence[_Part]) -> list[str]:
    """Return a warning for each condition of the protocol in which rows differ, and for their seeds."""
    keys = dict.fromkeys(key for part in parts for key in part.pair.conditions if key not in _OF_DATA)
    warnings = []
    for key in (*keys, "seeds"):
        values: dict[str, list[str]] = {}
        for part in parts:
            pair = part.pair
            value = str(pair.n_seeds) if key == "seeds" else pair.conditions.get(key, "the default")
            values.setdefault(value, []).append(part.where)
        if len(values) > 1:
            shown = "; ".join(f"{value} for {listed(where)}" for value, where in values.items())
            warnings.append(f"rows differ in {key}: {shown}")
    return warnings


def _corrected(parts: Sequence[_Part]) -> tuple[list[dict[str, dict[str, CorrectedDifference]]], int]:
    """Return the differences of each row with p corrected for all of them, and the number of tests."""
    keys = [(name, kind) for name in CONTRASTS for kind in COEFFICIENTS]
    tests = [part.pair.differences[name][kind].p for part in parts for name, kind in keys]
    adjusted = iter(holm(np.array([p for p in tests if p is not None])))
    rows: list[dict[str, dict[str, CorrectedDifference]]] = []
    for part in parts:
        rows.append({name: {} for name in CONTRASTS})
        for name, kind in keys:
            difference = part.pair.differences[name][kind]
            p = None if difference.p is None else float(next(adjusted))
            rows[-1][name][kind] = CorrectedDifference(**structs.asdict(difference), p_adjusted=p)
    return rows, len(tests) - tests.count(None)


def _means(parts: Sequence[_Part]) -> dict[str, dict[str, MeanAgreement]]:
    """Return the mean over rows of each coefficient."""
    tables, groups = (
        [],
        [(p.pair.conditions["data"], p.pair.conditions["sample"], p.pair.n_seeds) for p in parts],
    )
    for part in parts:
        rows = [
            (r, {name: r.scores[name].per_seed for name in (TRUTH, *MEASURES)}) for r in part.pair.encoders
        ]
        tables.append(ScoreTable.of([EncoderSeries(r.encoder, r.family, seeds, {}) for r, seeds in rows], 0))
    return {
        name: {
            kind: _mean(
                [part.pair.agreement[name][kind].mean for part in parts],
                [table.having((TRUTH, name))[0].by_seed((TRUTH, name), kind)[0] for table in tables],
                groups,
            )
            for kind in COEFFICIENTS
        }
        for name in MEASURES
    }


def _mean(
    means: Sequence[float | None], seeds: Sequence[list[float | None]], groups: Sequence[Any]
) -> MeanAgreement:
    """Return the mean over rows with its Monte Carlo error.

    Rows of one group (a data set with its samples) share their seeds: the variance of their sum is that of
    its values by seed, so what the rows have in common counts in full. Groups are independent.
    """
    present = [i for i, mean in enumerate(means) if mean is not None]
    if not present:
        return MeanAgreement(None, None, 0, "no row has the coefficient")
    left_out = len(means) - len(present)
    note = f"without {left_out} of {len(means)} rows" if left_out else None
    mean, variance = float(np.mean([means[i] for i in present])), 0.0
    for group in dict.fromkeys(groups[i] for i in present):
        rows = zip(*(seeds[i] for i in present if groups[i] == group), strict=True)
        sums = [float(np.sum(row)) for row in rows if None not in row]
        if len(sums) < 2:
            return MeanAgreement(mean, None, len(present), note)
        variance += spread(sums) ** 2 / len(sums)
    return MeanAgreement(mean, float(np.sqrt(variance)) / len(present), len(present), note)
