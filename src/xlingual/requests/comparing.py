"""Requests of `compare`, `gate` and `plan`, which take encoders by their results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from xlingual.requests.record import Record, Request, argument, option
from xlingual.requests.shared import AsJson, Form, IgnoreIdenticalIds, Quiet, RelevantFrom, Ties
from xlingual.requests.values import Natural, Positive, pair_list

Results: TypeAlias = Annotated[
    tuple[str, ...],
    Meta(min_length=1),
    argument("RESULTS…", "Folders of results; DIR#ENCODER names one encoder of a folder."),
]
Baseline: TypeAlias = Annotated[
    str | None,
    option("The encoder to compare all others with.", metavar="DIR#ENCODER", otherwise="the leader"),
]
Measure: TypeAlias = Annotated[
    str | None,
    option(
        "The measure, such as R@10, RR, SIM or AP.",
        metavar="NAME",
        otherwise="the first of the results",
    ),
]
Task: TypeAlias = Annotated[
    str | None,
    option("The task; required if the results are of several tasks.", metavar="NAME"),
]
Seed: TypeAlias = Annotated[Natural, option("Seed of the random numbers.")]


class JudgedRuns(Record, frozen=True, kw_only=True):
    """Runs of search engines that are evaluated first, by judgements."""

    heading = "Runs and judgements"

    qrels: Annotated[
        Path | None,
        option(
            "Judgements in the format of TREC or BEIR; then give files of runs, or NAME=FILE, in place of "
            "results. The measure is nDCG@10 unless you name one.",
            metavar="FILE",
        ),
    ] = None
    query_table: Annotated[
        Path | None,
        option(
            "Table of the queries: the columns query, cluster (queries that are not independent), and others "
            "for --by.",
            metavar="FILE",
        ),
    ] = None
    relevant_from: RelevantFrom = 1
    ties: Ties = "expected"
    ignore_identical_ids: IgnoreIdenticalIds = False


class CompareRequest(Request, frozen=True, kw_only=True):
    """Compare encoders query by query."""

    command = "compare"

    results: Results
    baseline: Baseline = None
    judged: JudgedRuns = JudgedRuns()
    measures: Annotated[
        tuple[str, ...],
        option(
            "A measure to compare by, such as R@10, RR or SIM; repeat for several.",
            names=("--measure",),
            metavar="NAME",
            otherwise="all of the results",
        ),
    ] = ()
    by: Annotated[
        tuple[str, ...],
        option(
            "A column of the manifest: also compare on the queries of each of its values; repeat for "
            "several.",
            metavar="COLUMN",
        ),
    ] = ()
    per_pair: Annotated[bool, option("Also compare on each language pair.")] = False
    margin: Annotated[
        float | None,
        option("Also test equivalence: differences below M do not matter.", metavar="M"),
    ] = None
    alpha: Annotated[float, option("Significance level of the tests.")] = 0.05
    correction: Annotated[
        Literal["holm", "bh", "none"],
        option("Correction for the number of tests: Holm, Benjamini–Hochberg, or none."),
    ] = "holm"
    replicates: Annotated[
        Positive | None,
        option(
            "Resamples of each test.",
            metavar="N",
            otherwise="1999, or more if the correction is for many tests",
        ),
    ] = None
    seed: Seed = 0
    form: Form = "table"
    out: Annotated[
        Path | None,
        option("Write comparison.json and report.html to the folder DIR.", metavar="DIR", run=True),
    ] = None
    as_json: AsJson = False
    quiet: Quiet = False


class LeaderboardRequest(Request, frozen=True, kw_only=True):
    """Put many encoders, data sets and tasks on one page."""

    command = "leaderboard"

    results: Annotated[
        tuple[str, ...],
        Meta(min_length=1),
        argument(
            "RESULTS…",
            "Folders of results, folders of such folders; DIR#ENCODER names one encoder of a folder.",
        ),
    ]
    measures: Annotated[
        tuple[str, ...],
        option(
            "A measure to show in columns, such as R@10 or AP; repeat for several.",
            names=("--measure",),
            metavar="NAME",
            otherwise="the first of each task",
        ),
    ] = ()
    per_pair: Annotated[bool, option("Give each language pair a column of its own.")] = False
    alpha: Annotated[float, option("Significance level of the tests that give the ranks.")] = 0.05
    correction: Annotated[
        Literal["holm", "bh", "none"],
        option("Correction for the number of tests in a column: Holm, Benjamini–Hochberg, or none."),
    ] = "holm"
    seed: Seed = 0
    title: Annotated[str | None, option("Title of the page.", run=True)] = None
    form: Form = "table"
    out: Annotated[
        Path | None,
        option(
            "Write the page to the folder SITE: index.html, a page for each result, and leaderboard.json.",
            metavar="SITE",
            run=True,
        ),
    ] = None
    as_json: AsJson = False
    quiet: Quiet = False


class GateRequest(Request, frozen=True, kw_only=True):
    """Pass a candidate that is no worse than a baseline."""

    command = "gate"

    candidate: Annotated[str, argument("CANDIDATE", "The encoder that may replace the baseline.")]
    baseline: Annotated[str | None, argument("[BASELINE]", "The encoder in use; not with --history.")] = None
    margin: Annotated[float, option("Largest acceptable loss of the candidate, such as 0.01.", metavar="M")]
    history: Annotated[
        Path | None,
        option(
            "Use in place of BASELINE the last run in this folder of results folders that passed a gate on "
            "the same conditions. If there is none, the candidate passes as the first run.",
            metavar="FOLDER",
        ),
    ] = None
    judged: JudgedRuns = JudgedRuns()
    measure: Measure = None
    task: Task = None
    pairs: Annotated[
        tuple[str, ...],
        option(
            "Decide on these language pairs only: en-de,de-en.",
            metavar="LIST",
            otherwise="all; both must have the same",
            reads=pair_list,
        ),
    ] = ()
    per_pair: Annotated[bool, option("Decide on each language pair; all must pass.")] = False
    then: Annotated[
        tuple[str, ...],
        option(
            "A further candidate, decided only if the one before it passed: name them in a fixed order, "
            "such as the largest vectors first.",
            metavar="CANDIDATE",
        ),
    ] = ()
    by: Annotated[
        str | None,
        option(
            "Decide on each label of a column, such as language in a pool; all must pass.", metavar="COLUMN"
        ),
    ] = None
    alpha: Annotated[float, option("Chance of a wrong pass, and of a wrong fail.")] = 0.05
    github: Annotated[
        bool, option("Append a summary to the file that GITHUB_STEP_SUMMARY names.", run=True)
    ] = False
    junit: Annotated[Path | None, option("Write JUnit XML to FILE.", metavar="FILE", run=True)] = None
    out: Annotated[Path | None, option("Write gate.json to the folder DIR.", metavar="DIR", run=True)] = None
    replicates: Annotated[Positive, option("Random sign flips of each test.", metavar="N")] = 4999
    seed: Seed = 0
    form: Form = "table"
    as_json: AsJson = False
    quiet: Annotated[bool, option("Print nothing but errors; the exit code is the answer.", run=True)] = False


class PlanRequest(Request, frozen=True, kw_only=True):
    """Say how many queries a difference needs."""

    command = "plan"

    results: Results
    effect: Annotated[float, option("The difference to detect, such as 0.01.", metavar="E")]
    power: Annotated[float, option("Power: the probability that a test detects the difference.")] = 0.8
    alpha: Annotated[float, option("Significance level of the two-sided test.")] = 0.05
    baseline: Baseline = None
    measure: Measure = None
    task: Task = None
    queries: Annotated[
        tuple[int, ...],
        option("Also compute which difference N queries can show; repeat for several numbers.", metavar="N"),
    ] = ()
    form: Form = "table"
    out: Annotated[Path | None, option("Write plan.json to the folder DIR.", metavar="DIR", run=True)] = None
    as_json: AsJson = False
