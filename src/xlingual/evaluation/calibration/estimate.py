"""What true retrieval a Backretrieval result stands for, by a calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from xlingual.errors import InputError
from xlingual.evaluation.calibration.calibrate import sampling_kind, too_few_families
from xlingual.evaluation.calibration.model import design, jackknife_plus, predicted_angle, share
from xlingual.measures import Measure, RecallAt, as_recall, parse_measure, parse_rank_measures
from xlingual.results import Entry, EstimatedXLR, Interval, Results, Summary
from xlingual.results.calibration import Calibration, Conditions
from xlingual.signature import Signature

TASK = "backretrieval"
EXTRAPOLATED = "extrapolated, interval not valid"


def estimate(
    calibration: Calibration, bkr: float, sim: float | None, conditions: Conditions | None
) -> EstimatedXLR:
    """Return the estimated XLR of a BkR (and SIM) and its prediction interval.

    The interval is left out, with the reason, where `conditions` are those of no language pair of the
    calibration (None: not known) or where it has too few families.
    """
    if sim is None and "SIM" in calibration.predictors:
        raise InputError("the calibration uses SIM and this result has none: calibrate without --sim")
    x = design({"BkR": [bkr], "SIM": [sim]}, calibration.predictors)
    value = float(share(predicted_angle(calibration.model, x))[0])
    differences = (
        ["the conditions are not known"] if conditions is None else _differences(calibration, conditions)
    )
    if differences:
        return EstimatedXLR(value, None, f"{EXTRAPOLATED}: {'; '.join(differences)}")
    families = [point.family for point in calibration.points]
    ends = jackknife_plus(calibration.without, calibration.residuals, families, x[0], calibration.level)
    if ends is None:
        return EstimatedXLR(value, None, too_few_families(len(set(families)), calibration.level))
    low, high = min(ends[0], value), max(ends[1], value)  # an interval holds its estimate
    method = f"jackknife+ over {len(set(families))} families, guaranteed {2 * calibration.level - 1:.2g}"
    return EstimatedXLR(value, Interval(low, high, calibration.level, method), _outside(calibration, bkr))


def check_measures(calibration: Calibration, measures: Sequence[str | Measure]) -> None:
    """Raise InputError where a result will lack the measure that the calibration is about."""
    measure = calibration.cells[0].measure
    if measure not in [one.name for one in as_recall(parse_rank_measures(measures))]:
        raise InputError(f"the calibration is about {measure}: add --measure {measure}")


def with_estimates(results: Results, calibration: Calibration) -> Results:
    """Return the results with an estimated XLR in each summary of the calibration's measure.

    The row over several language pairs gets the mean of their estimates and no interval.
    """
    measure = calibration.cells[0].measure
    found: dict[str, list[EstimatedXLR]] = {}
    summary = []
    for row in results.summary:
        if row.task != TASK or row.measure != measure or row.value is None:
            summary.append(row)
            continue
        if row.source is None:
            estimated: EstimatedXLR | None = _overall(found.get(row.encoder, []), row.n_pairs)
        else:
            estimated = _of_pair(results, calibration, row)
            found.setdefault(row.encoder, []).append(estimated)
        summary.append(replace(row, estimated_xlr=estimated))
    return replace(results, summary=summary)


def _of_pair(results: Results, calibration: Calibration, row: Summary) -> EstimatedXLR:
    entries = [
        entry
        for entry in results.entries
        if (entry.task, entry.source, entry.target, entry.encoder, entry.measure)
        == (row.task, row.source, row.target, row.encoder, row.measure)
    ]
    sim = next(
        (
            other.value
            for other in results.summary
            if other.measure == "SIM"
            and (other.task, other.source, other.target, other.encoder)
            == (row.task, row.source, row.target, row.encoder)
        ),
        None,
    )
    if row.value is None:
        raise ValueError("a summary without a value has no estimate")
    return estimate(calibration, row.value, sim, _conditions(entries))


def _conditions(entries: Sequence[Entry]) -> Conditions | None:
    """Return the conditions of one number's entries, None where its signature cannot be read."""
    entry = entries[0]
    try:
        known = Signature.parse(entry.signature).conditions
        return Conditions(
            source=entry.source,
            target=entry.target,
            measure=entry.measure,
            n_source=entry.n_source,
            n_target=entry.n_target,
            n_pictures=_n_pictures(entries),
            n_seeds=len(entries),
            sampling=sampling_kind(known["sample"]),
            images=known["images"],
            conventions=known["conventions"],
            data=known["data"],
        )
    except (ValueError, KeyError):
        return None


def _n_pictures(entries: Sequence[Entry]) -> int:
    """Return the distinct source pictures D from the mean chance of R@K over seeds, which is K/D.

    Raises ValueError where the entries have no chance.
    """
    measure = parse_measure(entries[0].measure)
    chances = [entry.chance for entry in entries if entry.chance]
    if not isinstance(measure, RecallAt) or len(chances) < len(entries):
        raise ValueError("no chance, so the number of pictures is not known")
    return round(measure.k / float(np.mean(chances)))


def _differences(calibration: Calibration, found: Conditions) -> list[str]:
    """Return how the conditions differ from the nearest of the calibration's."""
    return min((cell.differences(found) for cell in calibration.cells), key=len)


def _outside(calibration: Calibration, bkr: float) -> str | None:
    """Return a remark where BkR lies outside those that the calibration has seen."""
    seen = [point.BkR for point in calibration.points]
    if min(seen) <= bkr <= max(seen):
        return None
    return f"BkR {bkr:.3f} is outside those of the calibration ({min(seen):.3f} to {max(seen):.3f})"


def _overall(found: Sequence[EstimatedXLR], n_pairs: int) -> EstimatedXLR | None:
    if len(found) != n_pairs or not found:
        return None
    if n_pairs == 1:
        return found[0]
    value = float(np.mean([one.value for one in found]))
    outside = any((one.note or "").startswith(EXTRAPOLATED) for one in found)
    note = f"{EXTRAPOLATED}, for some of" if outside else "no interval for a mean over"
    return EstimatedXLR(value, None, f"{note} {n_pairs} language pairs: see each pair")
