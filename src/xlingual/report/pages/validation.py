"""The page of a validation: how well measures that need no translations follow true retrieval (XLR)."""

from __future__ import annotations

from xlingual.errors import InputError
from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Group, Heading, Legend, Page, Prose, Section
from xlingual.report.emphasis import NONE, Emphasis, encoders
from xlingual.report.figures.validation import Shown, against_xlr, legend_against_xlr, over_quality
from xlingual.report.findings.image_quality import of_pair
from xlingual.report.findings.validation import findings, share_text
from xlingual.report.pages import validation_tables as tables
from xlingual.results.validation import MEASURES, PairValidation, Validation

PAPER_N, PAPER_K = 1_500, 10  # the sample and cut-off of the paper's Table 1 for IKEA
TERMS = {
    "XLR": "True cross-lingual retrieval: how often the known match of a text is among its K nearest. It "
    "needs pairs that are known to match, and is what the other measures are compared with.",
    "XLR at K = 1": "The same with K = 1. Where good encoders all find the match among the ten nearest, only "
    "this still shows a difference.",
    **dict(words.terms("BkR", "SIM")),
    "CORR": "The rank correlation of text distances and image distances over pairs that do not match (−1 "
    "to 1).",
    "Pearson and Spearman": "How closely a measure follows XLR over the encoders: by their values, and by "
    "their order. 1 is perfect agreement, 0 none.",
    "Mean, sd and se over seeds": "Each seed divides the data anew and gives a coefficient. sd is their "
    "spread. se is sd divided by the root of the number of seeds: Monte Carlo error of the mean only. It "
    "says nothing about other encoders or items.",
    "Interval": "Where the coefficient of the encoders' means would land for other families of encoders and "
    "other items from the same sources. The test of a difference is about the same and uses the same draws: "
    "p is below .05 exactly where its 95 % interval excludes zero. Each comparison is judged "
    "by itself.",
    "Order of two encoders": "The share of pairs of encoders that a measure orders as XLR does. A tie in "
    "both counts as agreement, a tie in one does not.",
    "Oracle and chance": "BkR where each query retrieves the text with the nearest image, and BkR of an "
    "encoder that knows nothing.",
    "Nearest images kept": "How good weakened image vectors still are: of the K images nearest to an "
    "image, the share that still are. Shuffled images keep K/D by luck.",
}
_AGREEMENT = (
    "mean ± se: mean over seeds of the coefficient of each seed; the standard error is Monte Carlo error "
    "only. sd: over seeds. of means: the coefficient of the encoders' means over seeds, with its interval. "
    f"The paper's table for IKEA has N = {PAPER_N:,}, K/N = {share_text(PAPER_K, PAPER_N)}."
)

_COMPARED = ("backretrieval", "crosslingual-retrieval")


def page(validation: Validation, *, title: str | None = None, emphasis: Emphasis = NONE) -> Page:
    """Return the page of a validation: a section for each language pair, and one for their directions."""
    pairs, points = validation.pairs, _shown(validation, emphasis)
    sections = [_section(validation, pair, points) for pair in pairs]
    if validation.directions:
        sections.append(Section("Directions", [tables.directions(validation)]))
    shown = [words.pair(pair.source, pair.target) for pair in pairs]
    coefficients = [
        one
        for pair in pairs
        for own in pair.subsets.values()
        for by_kind in own.agreement.values()
        for one in by_kind.values()
    ]
    names = list(dict.fromkeys(row.encoder for pair in pairs for row in pair.encoders))
    what = "Backretrieval compared with true retrieval"
    return Page(
        kind="report",
        title=title or (f"{what}: {numbers.in_words(shown, 4)}" if pairs else what),
        verdict=findings(validation),
        sections=sections,
        facts=_facts(validation, len(names)),
        about=words.explained(*((task, validation.measure) for task in _COMPARED)),
        terms=list(TERMS.items()),
        warnings=list(dict.fromkeys(validation.warnings)),
        conditions=_conditions(validation),
        methods=sorted({one.ci.method for one in coefficients if one.ci}),
        timings=[(name, numbers.duration(value)) for name, value in validation.timings.items()],
        names=names,
    )


def _shown(validation: Validation, emphasis: Emphasis) -> Shown:
    """Return what the scatters show; raise InputError where they cannot."""
    emphasis.only("--highlight", "--seed-shown")
    names = encoders(emphasis.highlight, (row.encoder for pair in validation.pairs for row in pair.encoders))
    first, count = (
        (validation.request or {}).get("seed", 0),
        min((p.n_seeds for p in validation.pairs), default=0),
    )
    place = None if emphasis.seed is None else emphasis.seed - first
    if place is not None and not 0 <= place < count:
        raise InputError(
            f"--seed-shown {emphasis.seed}: this validation has the seeds {first} to {first + count - 1}; "
            "name one of them, or mean"
        )
    return Shown(place, emphasis.seed, names)


def _section(validation: Validation, pair: PairValidation, shown: Shown) -> Section:
    threshold, name = validation.threshold, words.pair(pair.source, pair.target)
    main, *small = (
        against_xlr(pair, one, threshold, small=one != MEASURES[0], shown=shown) for one in MEASURES
    )
    agreement, *at_1 = tables.agreement(validation, pair)
    found: list[Block] = [
        Heading(name, where="terminal"),
        Prose(_sizes(pair), where="both"),
        Group("panels", [Group("panel-main", [main]), Group("panel-side", small)]),
        Legend(legend_against_xlr(threshold, shown)),
        agreement,
        Prose(_AGREEMENT, "legend"),
        *at_1,
        tables.differences(pair),
        tables.accuracy(pair),
        tables.subsets(pair, threshold),
        tables.encoders(pair, validation.family, validation.measure_at_1),
    ]
    if weakened := of_pair(validation.degradations, pair):
        heading = Heading("What quality of images is needed")
        found += [heading, over_quality(weakened, pair), tables.degradations(weakened)]
    return Section(name, found)


def _sizes(pair: PairValidation) -> str:
    """Return the sizes behind the numbers of a pair, beside the paper's sample."""
    targets = "" if pair.n_target == pair.n_source else f", {numbers.count(pair.n_target)} targets"
    families = f"{numbers.counted(pair.n_families, 'family', 'families')}, "
    return (
        f"N = {numbers.count(pair.n_source)}{targets}, K/N = {share_text(pair.k, pair.n_source)} "
        f"(the paper's IKEA table: N = {PAPER_N:,}, K/N = {share_text(PAPER_K, PAPER_N)}); "
        f"{numbers.counted(pair.n_encoders, 'encoder')}, "
        f"{'' if pair.n_families == pair.n_encoders else families}{numbers.counted(pair.n_seeds, 'seed')}; "
        f"chance {numbers.number(pair.chance)}, oracle {numbers.number(pair.oracle)} "
        f"of {numbers.counted(pair.n_pictures, 'image')}"
    )


def _facts(validation: Validation, n_encoders: int) -> list[tuple[str, str]]:
    pairs = validation.pairs
    counts = [(n_encoders, "encoder", "encoders")]
    if validation.family is not None:
        families = {row.family for pair in pairs for row in pair.encoders}
        counts.append((len(families), "family", "families"))
    facts = numbers.facts(*counts)
    if pairs:
        facts += [
            ("N", numbers.span([pair.n_source for pair in pairs])),
            ("K/N", " / ".join(dict.fromkeys(share_text(pair.k, pair.n_source) for pair in pairs))),
            ("seeds", numbers.span([pair.n_seeds for pair in pairs])),
        ]
    named = dict.fromkeys(pair.conditions["xlr"] for pair in pairs if "xlr" in pair.conditions)
    return [*facts, ("measure", f"{validation.measure}{''.join(f' (XLR: {name})' for name in named)}")]


def _conditions(validation: Validation) -> list[tuple[str, list[str]]]:
    found = {
        "measure": [validation.measure],
        "image encoder": [validation.image_encoder],
        "weak below XLR": [f"{validation.threshold:g}"],
        "family": [validation.family or "each encoder its own"],
    }
    own: dict[str, list[str]] = {}
    for key, value in dict.fromkeys(item for pair in validation.pairs for item in pair.conditions.items()):
        own.setdefault(key, []).append(value)
    own.pop("measure", None)
    return [*found.items(), *own.items()]
