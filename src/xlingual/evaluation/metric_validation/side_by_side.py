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
from xlingual.evaluation.metric_validation.agreement import by_seed
from xlingual.evaluation.metric_validation.encoder_scores import EncoderSeries, spread, table_of
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
# of each data set its own; all other conditions are the protocol
_OWN = {"source", "target", "data", "sample", "images", "seeds", "measure", "conventions"}
_SIZES = {"n_source", "n_target", "n_matching", "n_pictures"}


@dataclass(frozen=True)
class _Part:
    """One language pair of one data set, as its validation has it."""

    data_set: str
    validation: Validation
    pair: PairValidation

    @property
    def where(self) -> str:
        return f"{self.data_set} {self.pair.source}-{self.pair.target}"


def validation_table(
    validations: Mapping[str, ValidationLike] | Sequence[ValidationLike],
) -> ValidationTable:
    """Return the table of several validations: a row for each data set and language pair, in order.

    Args:
        validations: records, or their files or folders; a mapping names the data sets, else folders do.

    Raises:
        InputError: a file is no validation; measure, K or conventions differ; a row is there twice.

    """
    given = validations if isinstance(validations, Mapping) else _named(validations)
    read = {name: one if isinstance(one, Validation) else Validation.read(one) for name, one in given.items()}
    parts = [_Part(name, one, pair) for name, one in read.items() for pair in one.pairs]
    if not parts:
        raise InputError("there is no validation with a language pair: name folders with validation.json")
    _refuse(parts)
    tested = _tested(parts)
    first = parts[0].validation
    asked = {name: one.request for name, one in read.items() if one.request is not UNSET}
    warnings = [*_differences(parts), *_unequal_pools(parts)]
    warnings += [f"{name}: {warning}" for name, one in read.items() for warning in one.warnings]
    return ValidationTable(
        measure=first.measure,
        rows=[_row(part, own) for part, own in zip(parts, tested, strict=True)],
        mean=_means(parts),
        n_tests=sum(one.p is not None for own in tested for by in own.values() for one in by.values()),
        warnings=warnings,
        timings={name: sum(one.timings.values()) for name, one in read.items()},
        request={"command": ValidateBackretrievalRequest.command, "sets": asked},
        provenance=Provenance(
            program(), derived_from=[Origin(one.schema(), digest_of(one)) for one in read.values()]
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
        own, others = part.pair.conditions, first.pair.conditions
        if lacking := [key for key in _NEEDED if key not in own]:
            raise InputError(
                f"{part.where} lacks the condition {listed(lacking)}: run {Validation.made_by} again"
            )
        if (own["measure"], part.pair.k) != (others["measure"], first.pair.k):
            raise InputError(
                f"the validations differ in measure: {first.where} has {others['measure']}, {part.where} has "
                f"{own['measure']}: validate all with one --measure"
            )
        if own["conventions"] != others["conventions"]:
            raise InputError(
                f"the validations differ in conventions: {first.where} has {others['conventions']}, "
                f"{part.where} has {own['conventions']}: validate both again with one version"
            )
        encoders = frozenset(row.encoder for row in part.pair.encoders)
        key = (*own.items(), encoders)
        if key in seen:
            raise InputError(
                f"{part.where} is {seen[key]} once more: the same row must not count twice, give one of them"
            )
        seen[key] = part.where


def _differences(parts: Sequence[_Part]) -> list[str]:
    """Return a warning for each condition of the protocol in which rows differ, and for their seeds."""
    conditions = [part.pair.conditions for part in parts]
    keys = dict.fromkeys(key for own in conditions for key in own if key not in _OWN | _SIZES)
    found = []
    for key in (*keys, "seeds"):
        values: dict[str, list[str]] = {}
        for part, own in zip(parts, conditions, strict=True):
            value = str(part.pair.n_seeds) if key == "seeds" else own.get(key, "the default")
            values.setdefault(value, []).append(part.where)
        if len(values) > 1:
            shown = "; ".join(f"{value} for {listed(where)}" for value, where in values.items())
            found.append(f"rows differ in {key}: {shown}")
    return found


def _unequal_pools(parts: Sequence[_Part]) -> list[str]:
    """Return a warning for rows in which XLR and BkR choose among different numbers of candidates."""
    return [
        f"{part.where}: XLR chooses among {part.pair.n_matching} texts, BkR among {part.pair.n_target}"
        for part in parts
        if part.pair.n_matching not in (None, part.pair.n_target)
    ]


def _tested(parts: Sequence[_Part]) -> list[dict[str, dict[str, CorrectedDifference]]]:
    """Return the differences of each row, with p corrected for all of them."""
    places = [(i, name, kind) for i in range(len(parts)) for name in CONTRASTS for kind in COEFFICIENTS]
    found = [parts[i].pair.differences[name][kind] for i, name, kind in places]
    known = [number for number, one in enumerate(found) if one.p is not None]
    adjusted = dict(zip(known, holm(np.array([found[number].p for number in known])), strict=True))
    tested: list[dict[str, dict[str, CorrectedDifference]]] = [
        {name: {} for name in CONTRASTS} for _ in parts
    ]
    for number, (i, name, kind) in enumerate(places):
        p = adjusted.get(number)
        tested[i][name][kind] = CorrectedDifference(
            **structs.asdict(found[number]), p_adjusted=None if p is None else float(p)
        )
    return tested


def _row(part: _Part, differences: dict[str, dict[str, CorrectedDifference]]) -> TableRow:
    pair = part.pair
    best = {}
    for kind in COEFFICIENTS:
        means = {name: pair.agreement[name][kind].mean for name in MEASURES}
        known = {name: mean for name, mean in means.items() if mean is not None}
        if known:
            best[kind] = max(known, key=known.__getitem__)
    return TableRow(
        data_set=part.data_set,
        source=pair.source,
        target=pair.target,
        n_source=pair.n_source,
        k=pair.k,
        n_seeds=pair.n_seeds,
        n_encoders=pair.n_encoders,
        n_families=pair.n_families,
        image_encoder=part.validation.image_encoder,
        agreement=pair.agreement,
        best=best,
        differences=differences,
        conditions=pair.conditions,
    )


def _means(parts: Sequence[_Part]) -> dict[str, dict[str, MeanAgreement]]:
    seeds = [_coefficients(part.pair) for part in parts]
    groups = [(p.pair.conditions["data"], p.pair.conditions["sample"], p.pair.n_seeds) for p in parts]
    return {
        name: {
            kind: _mean(
                [part.pair.agreement[name][kind].mean for part in parts],
                [own[name, kind] for own in seeds],
                groups,
            )
            for kind in COEFFICIENTS
        }
        for name in MEASURES
    }


def _coefficients(pair: PairValidation) -> dict[tuple[str, str], list[float | None]]:
    """Return the coefficient of each seed by measure and coefficient, as `Agreement.mean` is made of them."""
    series = [
        EncoderSeries(
            row.encoder, row.family, {name: row.scores[name].per_seed for name in (TRUTH, *MEASURES)}, {}
        )
        for row in pair.encoders
    ]
    whole = table_of(series, 0)
    found = {}
    for name in MEASURES:
        table, _ = whole.having((TRUTH, name))
        for kind in COEFFICIENTS:
            found[name, kind] = by_seed(table, (TRUTH, name), kind)[0]
    return found


def _mean(
    means: Sequence[float | None], seeds: Sequence[list[float | None]], groups: Sequence[Any]
) -> MeanAgreement:
    """Return the mean over rows with its Monte Carlo error.

    Rows of one group (a data set with its samples) share their seeds: the variance of their sum is that of
    its values by seed, so what the rows have in common counts in full. Groups are independent.
    """
    known = [i for i, mean in enumerate(means) if mean is not None]
    if not known:
        return MeanAgreement(None, None, 0, "no row has the coefficient")
    left_out = len(means) - len(known)
    note = f"without {left_out} of {len(means)} rows" if left_out else None
    mean, error = float(np.mean([means[i] for i in known])), 0.0
    for group in dict.fromkeys(groups[i] for i in known):
        rows = zip(*(seeds[i] for i in known if groups[i] == group), strict=True)
        sums = [float(np.sum(row)) for row in rows if None not in row]
        if len(sums) < 2:
            return MeanAgreement(mean, None, len(known), note)
        error += spread(sums) ** 2 / len(sums)
    return MeanAgreement(mean, float(np.sqrt(error)) / len(known), len(known), note)
