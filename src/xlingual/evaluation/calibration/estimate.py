"""What true retrieval a Backretrieval result stands for, by a calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from xlingual.arrays import Floats
from xlingual.errors import InputError
from xlingual.evaluation.calibration.calibrate import sampling_kind, too_few
from xlingual.evaluation.calibration.model import design, jackknife_plus, predicted_angle, share
from xlingual.evaluation.similarities import COSINE
from xlingual.measures import Measure, RecallAt, as_recall, parse_measure, parse_rank_measures
from xlingual.results import Entry, EstimatedXLR, Interval, Results, Summary, by_key
from xlingual.results.calibration import (
    EXTRAPOLATION,
    FORM,
    OTHER_CONDITIONS,
    WITHIN,
    Calibration,
    CalibrationPoint,
    Conditions,
    DataSet,
)
from xlingual.signature import ROLES_SINCE, Signature, same_conventions, version

TASK = "backretrieval"


def estimate(
    calibration: Calibration, bkr: float, sim: float | None, conditions: Conditions | None
) -> EstimatedXLR:
    """Return the estimated XLR of a BkR (and SIM) and its prediction interval.

    Within a data set of the calibration the curve is that of this data set and the interval is over its
    families of encoders. Anything else is an extrapolation, named so: the curve is that of all data sets and
    the interval is over data sets. It is left out, with the reason, where there are too few families or data
    sets, or where `conditions` are none of the calibration's (None: not known).
    """
    if sim is None and "SIM" in calibration.predictors:
        raise InputError("the calibration uses SIM and this result has none: calibrate without --sim")
    x = design({"BkR": [bkr], "SIM": [sim]}, calibration.predictors)
    own = None if conditions is None else _own(calibration, conditions)
    if own is None:
        return _of_other_data(calibration, x, bkr, conditions)
    points = [point for point in calibration.points if calibration.data_of(point) == own.data]
    families = [point.family for point in points]
    value = float(share(predicted_angle(own.model, x))[0])
    ends = jackknife_plus(own.without, own.residuals, families, x[0], calibration.level)
    n = len(set(families))
    if ends is None:
        reason = too_few(n, "families of encoders", "the data set", calibration.level)
        return EstimatedXLR(value, None, f"{WITHIN}, no interval: {reason}")
    ci = _interval(value, ends, calibration.level, f"{WITHIN}: jackknife+ over {n} families")
    return EstimatedXLR(value, ci, _outside(points, bkr))


def _of_other_data(
    calibration: Calibration, x: Floats, bkr: float, conditions: Conditions | None
) -> EstimatedXLR:
    """Return the estimate for data that the calibration does not know, or for other conditions."""
    value = float(share(predicted_angle(calibration.model, x))[0])
    if conditions is None:
        return EstimatedXLR(value, None, f"{EXTRAPOLATION}, no interval: the conditions are not known")
    if differences := _differences(calibration.cells, conditions):
        found = "; ".join(differences)
        if any(cell.data == conditions.data for cell in calibration.cells):
            return EstimatedXLR(value, None, f"{OTHER_CONDITIONS}, no interval: {found}")
        return EstimatedXLR(value, None, f"{EXTRAPOLATION}, no interval: {found}; {_met(calibration)}")
    data = [calibration.data_of(point) for point in calibration.points]
    n = len(set(data))
    ends = jackknife_plus(calibration.without, calibration.residuals, data, x[0], calibration.level)
    if ends is None:
        reason = too_few(n, "data sets", "the calibration", calibration.level)
        return EstimatedXLR(value, None, f"{EXTRAPOLATION}, no interval: {reason}; {_met(calibration)}")
    ci = _interval(value, ends, calibration.level, f"{EXTRAPOLATION}: jackknife+ over {n} data sets")
    return EstimatedXLR(value, ci, _outside(calibration.points, bkr))


def _interval(value: float, ends: tuple[float, float], level: float, method: str) -> Interval:
    """Return the interval, stretched to hold its estimate, with what it guarantees."""
    low, high = min(ends[0], value), max(ends[1], value)
    return Interval(low, high, level, f"{method}, guaranteed {2 * level - 1:.2g}")


def _own(calibration: Calibration, conditions: Conditions) -> DataSet | None:
    """Return the data set of the calibration that the conditions are within."""
    cells = [cell for cell in calibration.cells if cell.data == conditions.data]
    if not cells or _differences(cells, conditions):
        return None
    return next(one for one in calibration.data_sets if one.data == conditions.data)


def _met(calibration: Calibration) -> str:
    """Return which errors were met between data sets."""
    one = next((e for e in calibration.errors if (e.left_out, e.form) == ("data", FORM)), None)
    if one is None or one.least is None or one.most is None:
        return "how far it is off for another data set was not measured"
    return f"for a data set that was left out the mean error was {one.least:.3f} to {one.most:.3f}"


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
        if estimated is not None and calibration.xlr_measure != measure:
            estimated = msgspec.structs.replace(estimated, measure=calibration.xlr_measure)
        summary.append(msgspec.structs.replace(row, estimated_xlr=estimated))
    return replace(results, summary=summary)


def _of_pair(results: Results, calibration: Calibration, row: Summary) -> EstimatedXLR:
    same = {"task": row.task, "source": row.source, "target": row.target, "encoder": row.encoder}
    entries = by_key(results.entries, **same, measure=row.measure)
    sims = by_key(results.summary, **same, measure="SIM")
    if row.value is None:
        raise ValueError("a summary without a value has no estimate")
    return estimate(
        calibration, row.value, sims[0].value if sims else None, _conditions(entries, calibration)
    )


def _conditions(entries: Sequence[Entry], calibration: Calibration) -> Conditions | None:
    """Return the conditions of one number's entries, None where its signature cannot be read."""
    entry = entries[0]
    try:
        signature = Signature.parse(entry.signature)
        known = signature.conditions
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
            conventions=_conventions(signature, calibration.cells[0].conventions),
            data=known["data"],
            texts_per_item=known.get("texts-per-item", "all"),
            similarity=signature.system.get("similarity", COSINE),
        )
    except (ValueError, KeyError):
        return None


def _conventions(signature: Signature, calibrated: str) -> str:
    """Return the calibration's conventions where the number would be the same under them, else its own."""
    known = signature.conditions
    alike = version(known) >= ROLES_SINCE and "roles" not in signature.system
    same = same_conventions(known, {**known, "conventions": calibrated}, by_role=not alike)
    return calibrated if same else known["conventions"]


def _n_pictures(entries: Sequence[Entry]) -> int:
    """Return the distinct source images D from the mean chance of R@K over seeds, which is K/D.

    Raises ValueError where the entries have no chance.
    """
    measure = parse_measure(entries[0].measure)
    chances = [entry.chance for entry in entries if entry.chance]
    if not isinstance(measure, RecallAt) or len(chances) < len(entries):
        raise ValueError("no chance, so the number of images is not known")
    return round(measure.k / float(np.mean(chances)))


def _differences(cells: Sequence[Conditions], found: Conditions) -> list[str]:
    """Return how the conditions differ from the nearest of the calibration's."""
    return min((cell.differences(found) for cell in cells), key=len)


def _outside(points: Sequence[CalibrationPoint], bkr: float) -> str | None:
    """Return a remark where BkR lies outside those that the curve was fitted to."""
    seen = [point.BkR for point in points]
    if min(seen) <= bkr <= max(seen):
        return None
    return f"BkR {bkr:.3f} is outside those of the calibration ({min(seen):.3f} to {max(seen):.3f})"


def _overall(found: Sequence[EstimatedXLR], n_pairs: int) -> EstimatedXLR | None:
    if len(found) != n_pairs or not found:
        return None
    if n_pairs == 1:
        return found[0]
    value = float(np.mean([one.value for one in found]))
    remarks = [text for one in found for text in (one.note or "", one.ci.method if one.ci else "")]
    unknown = any(
        text.startswith((EXTRAPOLATION, OTHER_CONDITIONS)) for text in remarks
    )  # data, or conditions
    kind = "extrapolation for some, " if unknown else ""
    return EstimatedXLR(
        value, None, f"{kind}no interval for a mean over {n_pairs} language pairs: see each pair"
    )
