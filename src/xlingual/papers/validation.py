"""The page of a validation: the paper's Figure 2, and the rows of Table 1 of one data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Block, Figure, Finding, Group, Heading, Legend, Page, Prose, Section
from xlingual.report.conditions import fewer_items
from xlingual.report.figures.frame import Ends, Frame, Size, fitted, line_swatch, mark_swatch, scatter
from xlingual.report.leaders import contains
from xlingual.report.shapes import Drawing
from xlingual.report.table import Cell, Key, Table, TableRoom, narrower
from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    RIVALS,
    TRUTH,
    TRUTH_AT_1,
    Agreement,
    CoefficientDifference,
    EncoderScores,
    PairValidation,
    RankingAccuracy,
    SeedScores,
    Validation,
)

PAPER_N, PAPER_K = 1_500, 10  # the sample and cut-off of the paper's Table 1 for IKEA
_COEFFICIENT = ("mean ± se", "sd", "of means")  # columns
CLOSE = 0.8  # a coefficient whose whole interval lies above it is called close agreement
ALPHA = 0.05
LARGE: Size = (560, 480, 52, 14, 546, 434)
NARROW: Size = (350, 390, 44, 14, 342, 346)  # for a telephone: the letters stay as large as on a wide page
SMALL: Size = (330, 224, 46, 12, 320, 184)
_REMARKS = (118, 42)  # the room of both coefficients at the top left of a scatter
RIVAL_NAMES = {"CORR": "the correlation of distances (CORR)", "SIM": "SIM (without the way back)"}
_GRADES = {
    "close": "Backretrieval (BkR) tracks true retrieval (XLR) closely",
    "positive": "Backretrieval (BkR) agrees with true retrieval (XLR), but how closely is uncertain,",
    "against": "Backretrieval (BkR) disagrees with true retrieval (XLR)",
    "open": "Cannot tell whether Backretrieval (BkR) tracks true retrieval (XLR): an interval contains zero,",
}
MONTE_CARLO = (
    "The standard error over seeds is Monte Carlo error only: it is the uncertainty of the mean over these "
    "divisions of the data, not over other encoders or other items. The intervals show the latter."
)
TERMS = {
    "XLR": "True cross-lingual retrieval: how often the known match of a text is among its K nearest. It "
    "needs pairs that are known to match, and is what the other measures are compared with. XLR R@1 still "
    "shows a difference where good encoders all find the match among the ten nearest.",
    **dict(words.terms("BkR", "SIM")),
    "CORR": "The rank correlation of text distances and image distances over pairs that do not match (−1 "
    "to 1).",
    "Pearson and Spearman": "How closely a measure follows XLR over the encoders: by their values, and by "
    "their order. 1 is perfect agreement, 0 none.",
    "Mean, sd and se over seeds": "Each seed divides the data anew and gives a coefficient. sd is their "
    f"spread. se is sd divided by the root of the number of seeds. {MONTE_CARLO}",
    "Interval": "Where the coefficient of the encoders' means would land for other families of encoders and "
    "other items from the same sources. The test of a difference uses the same draws: p is below .05 exactly "
    "where its 95 % interval excludes zero. Each comparison is judged by itself.",
    "Order of two encoders": "The share of pairs of encoders that a measure orders as XLR does. A tie in "
    "both counts as agreement, a tie in one does not.",
}


def page(validation: Validation, *, title: str | None = None) -> Page:
    """Make the page of a validation: a section for each language pair."""
    pairs = validation.pairs
    shown = [words.pair(pair.source, pair.target) for pair in pairs]
    names = list(dict.fromkeys(row.encoder for pair in pairs for row in pair.encoders))
    samples = [pair.conditions.get("sample", "") for pair in pairs]
    last = [*fewer_items(validation.request or {}, samples), MONTE_CARLO]
    several = len(pairs) > 1
    verdict = [
        Finding(_sentences(pair), name if several else "") for pair, name in zip(pairs, shown, strict=True)
    ]
    whole = [pair.subsets["all"] for pair in pairs]
    methods = {row.ci.method for subset in whole for row in subset.agreement["BkR"].values() if row.ci}
    tests = [test for s in whole for by_kind in s.differences.values() for test in by_kind.values()]
    methods |= {test.test for test in tests if test.test}
    conditions = {
        **conditions_of(pair.conditions for pair in pairs),
        "weak below XLR": [f"{validation.threshold:g}"],
        "image encoder": [validation.image_encoder],
        "family": [validation.family or "each encoder its own"],
    }
    return Page(
        kind="report",
        title=title
        or f"Backretrieval compared with true retrieval: {numbers.in_words(shown, 4) or 'no pair'}",
        verdict=[*verdict, Finding(last)] if pairs else [Finding(["No language pair was validated."])],
        sections=[_section(validation, pair, name) for pair, name in zip(pairs, shown, strict=True)],
        facts=[
            *numbers.facts((len(names), "encoder", "encoders")),
            ("N", numbers.span([pair.n_source for pair in pairs])),
            ("seeds", numbers.span([pair.n_seeds for pair in pairs])),
            ("measure", validation.measure),
        ],
        about=words.explained(
            *((task, validation.measure) for task in ("backretrieval", "crosslingual-retrieval"))
        ),
        terms=list(TERMS.items()),
        warnings=list(dict.fromkeys(validation.warnings)),
        conditions=list(conditions.items()),
        methods=sorted(methods),
        timings=[(name, numbers.duration(value)) for name, value in validation.timings.items()],
        names=names,
    )


def _sentences(pair: PairValidation) -> list[str]:
    """Say whether BkR tracks XLR, and better than its rivals, and how often it orders encoders rightly."""
    whole, over = pair.subsets["all"], numbers.counted(pair.subsets["all"].n_encoders, "encoder")
    if whole.n_families < whole.n_encoders:
        over += f" of {numbers.counted(whole.n_families, 'family', 'families')}"
    agreement = whole.agreement["BkR"]
    shown = {kind: numbers.with_interval(row.value, row.ci) for kind, row in agreement.items()}
    values = numbers.in_words([f"{kind.capitalize()} {text}" for kind, text in shown.items()])
    intervals = [row.ci for row in agreement.values() if row.value is not None and row.ci is not None]
    if len(intervals) < len(COEFFICIENTS):
        why = next((row.note for row in agreement.values() if row.note), "no interval was computed")
        unknown = f"Whether BkR tracks true retrieval (XLR) over {over} is not known ({values}): {why}"
        sentences = [words.stop(unknown)]
    else:
        least, most = min(ci.low for ci in intervals), max(ci.high for ci in intervals)
        grade = "close" if least > CLOSE else "positive" if least > 0 else "against" if most < 0 else "open"
        sentences = [f"{_GRADES[grade]} over {over}: {values}."]
    sentences += [_against(rival, whole.differences[f"BkR-{rival}"]) for rival in RIVALS]
    order = whole.accuracy["BkR"]
    if order.value is not None:
        ends = f" [{numbers.percent(order.ci.low)}, {numbers.percent(order.ci.high)}]" if order.ci else ""
        n_pairs = order.concordant + order.discordant + order.tied_both + order.tied_one
        share = f"{numbers.percent(order.value)}{ends} of {numbers.counted(n_pairs, 'pair')}"
        sentences.append(f"It orders two encoders as XLR does in {share}.")
    return sentences


def _against(rival: str, differences: Mapping[str, CoefficientDifference]) -> str:
    """Say whether BkR agrees with XLR better than a rival does."""
    gaps = {kind: Cell.difference(test.value, test.ci).plain for kind, test in differences.items()}
    p_values = {kind: numbers.p_sentence(test.p) for kind, test in differences.items()}
    shown = numbers.in_words([f"{kind.capitalize()} by {gaps[kind]}, {p_values[kind]}" for kind in gaps])
    outcomes = {outcome(test) for test in differences.values()}
    if "unknown" in outcomes:
        why = next((test.note for test in differences.values() if test.note), "there is no test")
        return words.stop(f"Whether BkR agrees with XLR better than {RIVAL_NAMES[rival]} is not known: {why}")
    if len(outcomes) > 1:
        return f"BkR differs from {RIVAL_NAMES[rival]} in one coefficient alone: {shown}."
    verb = {"better": "agrees with XLR better than", "worse": "agrees with XLR less than"}
    return f"BkR {verb.get(outcomes.pop(), 'is not distinguishable from')} {RIVAL_NAMES[rival]}: {shown}."


def outcome(test: CoefficientDifference) -> str:
    """Say what the test of a difference shows: better, worse, not distinguishable, unknown."""
    if test.value is None or test.ci is None or test.p is None:
        return "unknown"
    if contains(test.ci, 0.0) or test.p >= ALPHA:
        return "not distinguishable"
    return "better" if test.value > 0 else "worse"


def _section(validation: Validation, pair: PairValidation, name: str) -> Section:
    main, *small = (
        against_xlr(pair, measure, validation.threshold, small=measure != MEASURES[0]) for measure in MEASURES
    )
    share = f"{pair.k / pair.n_source:.4f}"
    sizes = (
        f"N = {numbers.count(pair.n_source)}, K/N = {share} (the paper's IKEA table: N = {PAPER_N:,}, K/N = "
        f"{PAPER_K / PAPER_N:.4f}); chance {numbers.number(pair.chance)}, oracle "
        f"{numbers.number(pair.oracle)} of {numbers.counted(pair.n_pictures, 'image')}"
    )
    legend = (
        Key(f"XLR {validation.threshold:g} or more", mark_swatch("above")),
        Key(f"XLR below {validation.threshold:g}", mark_swatch("below")),
        Key("standard deviation over seeds", line_swatch("spread")),
        Key("chance", line_swatch("chance")),
    )
    blocks: list[Block] = [
        Heading(name, where="terminal"),
        Prose(sizes, where="both"),
        Group("panels", [Group("panel-main", [main]), Group("panel-side", small)]),
        Legend(legend),
        *_agreement(pair),
        _differences(pair),
        _subsets(pair, validation.threshold),
        _encoders(pair, validation.family),
    ]
    return Section(name, blocks)


def _agreement(pair: PairValidation) -> list[Table]:
    """List the row of Table 1 for a pair, and the same for XLR R@1 where the validation has it."""
    whole, tables = pair.subsets["all"], []
    for truth, agreement in ((TRUTH, whole.agreement), ("XLR R@1", whole.agreement_at_1)):
        rows, noted = [], []
        for name, kind in ((name, kind) for name in MEASURES for kind in COEFFICIENTS if agreement):
            row = agreement[name][kind]
            cells = Cell.mean(row.mean, row.se), Cell.by(numbers.not_zero, row.sd), Cell.of(row.value, row.ci)
            rows.append([name, kind.capitalize(), *cells])
            noted.append((f"{name} {kind.capitalize()}", row.note))
        title, heads = f"Agreement with {truth} over encoders", ["measure", f"with {truth}", *_COEFFICIENT]
        if rows:
            tables.append(Table.of_texts(title, heads, rows, names=2, notes=notes_of(noted), where="both"))
    return tables


def _differences(pair: PairValidation) -> Table:
    rows, noted = [], []
    for name, by_kind in pair.subsets["all"].differences.items():
        for kind, test in by_kind.items():
            shfigures = name.replace("-", " − "), kind.capitalize()
            rows.append([*shfigures, Cell.difference(test.value, test.ci), Cell.by(numbers.p_value, test.p)])
            noted.append((" ".join(shfigures), test.note))
    title, heads = "Differences between measures", ["difference", "coefficient", "value", "p"]
    return Table.of_texts(title, heads, rows, names=2, notes=notes_of(noted), where="both")


def _subsets(pair: PairValidation, threshold: float) -> Table:
    """Show agreement among weak and strong encoders beside that of all."""
    ranges = {"all": "all", "below": f"below {threshold:g}", "above": f"from {threshold:g}"}
    rows, noted = [], []
    for name, subset in pair.subsets.items():
        encoders = f"{ranges.get(name, name)} ({subset.n_encoders})"
        for measure in MEASURES:
            figures: list[Agreement | RankingAccuracy] = [
                subset.agreement[measure][kind] for kind in COEFFICIENTS
            ]
            figures.append(subset.accuracy[measure])
            first = Cell(encoders if measure == MEASURES[0] else "", value=encoders)
            rows.append([first, measure, *(Cell.of(number.value, number.ci) for number in figures)])
            noted += [(encoders, number.note) for number in figures]
    heads = ["encoders with XLR", "measure", *(kind.capitalize() for kind in COEFFICIENTS), "order as XLR"]
    title, notes = "Weak and strong encoders", notes_of(noted)
    return Table.of_texts(title, heads, rows, names=2, notes=notes, where="both")


def _encoders(pair: PairValidation, family: str | None) -> Table:
    """List every encoder's scores, the best XLR first; families where a pattern gives them."""
    ordered = sorted(pair.encoders, key=_by_truth)
    at_1 = [TRUTH_AT_1] if all(TRUTH_AT_1 in row.scores for row in ordered) else []
    measures, families = (TRUTH, *at_1, *MEASURES), ["family"] if family is not None else []
    rows = [
        [
            row.encoder,
            *(row.family for _ in families),
            *(Cell.mean(row.scores[name].mean, row.scores[name].sd) for name in measures),
            Cell.by(numbers.percent, row.normalized),
        ]
        for row in ordered
    ]
    heads = ["encoder", *families, TRUTH, *("XLR R@1" for _ in at_1), *MEASURES, "BkR normalised"]
    notes = notes_of((f"{row.encoder} {name}", row.scores[name].note) for row in ordered for name in measures)
    title = "Encoders" if pair.n_seeds == 1 else "Encoders: mean ± standard deviation over seeds"
    looks = (TableRoom(), TableRoom(heads=10), *narrower(*families, "BkR normalised")[1:])
    names = 1 + len(families)
    return Table.of_texts(title, heads, rows, names=names, data=True, notes=notes, looks=looks, where="both")


def _by_truth(row: EncoderScores) -> tuple[bool, float, str]:
    mean = row.scores[TRUTH].mean
    return mean is None, -(mean or 0.0), row.encoder


def notes_of(noted: Iterable[tuple[str, str | None]]) -> list[str]:
    """List each note once, after what it is about."""
    several = dict.fromkeys(noted)
    places: dict[str, list[str]] = {}
    for place, note in several:
        if note:
            places.setdefault(note, []).append(place)
    return [
        f"{'All' if len(names) == len(several) else numbers.in_words(names, 3)}: {note}"
        for note, names in places.items()
    ]


def conditions_of(several: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Gather the values of each condition."""
    values: dict[str, list[str]] = {}
    for key, value in dict.fromkeys(item for conditions in several for item in conditions.items()):
        if key not in ("source", "target"):
            values.setdefault(key, []).append(value)
    return values


def against_xlr(pair: PairValidation, measure: str, threshold: float, *, small: bool = False) -> Figure:
    """Draw Figure 2 of the paper: each encoder's XLR (across) and measure (up), means over seeds.

    Points of a `small` one have no names.
    """
    rows = [
        row
        for row in sorted(pair.encoders, key=_by_truth)
        if None not in (row.scores[TRUTH].mean, row.scores[measure].mean)
    ]
    gaps = [f"\u2068{row.encoder}\u2069" for row in pair.encoders if row not in rows]
    notes = (f"not drawn, a number is missing: {', '.join(gaps)}",) if gaps else ()
    name = f"{measure} against {TRUTH}"
    if not rows:
        return Figure(Drawing((), 0, name=name, notes=("No encoder has both numbers: nothing to draw.",)))
    chance = {"BkR": pair.chance, "CORR": 0.0}.get(measure)
    ups = axis_for(
        [*(end for row in rows for end in _ends(row.scores[measure]) or (row.scores[measure].mean,)), chance]
    )
    coefficients = pair.subsets["all"].agreement[measure]
    texts = [f"{kind.capitalize()} {numbers.number(coefficients[kind].value)}" for kind in COEFFICIENTS]

    def draw(size: Size) -> Drawing:
        frame, points = Frame(*size, axis_for([0.0, 1.0]), ups), []
        for row in rows:
            across, up = row.scores[TRUTH], row.scores[measure]
            x, y = across.mean or 0.0, up.mean or 0.0
            title = f"\u2068{row.encoder}\u2069: XLR {numbers.number(x)}, {measure} {numbers.number(y)}"
            kind = "below" if x < threshold else "above"
            points.append(frame.point(x, y, title, kind=kind, across=_ends(across), up=_ends(up)))
        taken = [(frame.left, frame.top, frame.left + _REMARKS[0], frame.top + _REMARKS[1])]
        occupied = [*taken, *(box for point in points for box in (point.box, *point.whiskers()))]
        return scatter(
            frame,
            points,
            None if small else [row.encoder for row in rows],
            across=TRUTH,
            up=measure,
            spoken=f"{measure} against XLR for {words.pair(pair.source, pair.target)}, {len(rows)} encoders",
            lines=[frame.upright(frame.x(threshold), "divide")] if frame.xs.holds(threshold) else [],
            level=frame.level(chance, f"chance {numbers.mark(chance, measure)}", occupied),
            remarks=[(frame.left + 10, frame.top + 16 + 16 * i, text) for i, text in enumerate(texts)],
            taken=taken,
            name=name,
            notes=notes,
        )

    return Figure(draw(SMALL)) if small else fitted(draw, LARGE, NARROW)


def _ends(scores: SeedScores) -> Ends | None:
    """Return the mean less and plus one standard deviation over seeds; None for one seed."""
    if scores.mean is None or scores.sd is None:
        return None
    return scores.mean - scores.sd, scores.mean + scores.sd
