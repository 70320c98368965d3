"""Metric validation: whether measures that need no translations order encoders as true retrieval does.

For each encoder and seed XLR on a matching sample, BkR, SIM and CORR on a non-matching one; then agreement
with XLR over the encoders (Fain, Twomey and Bollegala, SIGIR 2021, Table 1 and Figure 2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.manifest import DataOptions, ManifestLike, takes_data
from xlingual.data.samples import SampleLike, fixed_samples, resolve_pairs
from xlingual.embed.sides import ImageIndex, TextVectors
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError, listed, parameter, warn
from xlingual.evaluation import crosslingual_retrieval, distance_correlation
from xlingual.evaluation.backretrieval.evaluate import NAME, Backretrieval
from xlingual.evaluation.backretrieval.nearest import Nearest
from xlingual.evaluation.backretrieval.way_back import SIM, refuse_small_pools
from xlingual.evaluation.estimates import Score, mean_known, score
from xlingual.evaluation.loop import Ranked
from xlingual.evaluation.metric_validation.agreement import ScoreTable, spread, subsets
from xlingual.evaluation.metric_validation.coefficients import FEWEST_ENCODERS
from xlingual.evaluation.numbers import Baseline, Subject, normalised
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, collected_warnings
from xlingual.measures import Measure, QueryMeasure, RecallAt, SuccessAt, parse_measure
from xlingual.ranking import Ranker
from xlingual.requests import answers
from xlingual.requests.validating import ValidateRequest
from xlingual.results import Entry, Results
from xlingual.results.validation import (
    MEASURES,
    TRUTH,
    TRUTH_AT_1,
    EncoderScores,
    PairValidation,
    SeedScores,
    Validation,
)
from xlingual.signature import Signature
from xlingual.stats import ResidualPart, variance
from xlingual.store import StoreLike, open_store

SEEDS = 25
Pair = tuple[str, str]
Key = tuple[str, str, Subject]  # measure, encoder, and the language pair with its seed


@dataclass
class Measured:
    """Scores by measure, encoder and subject (a language pair and seed), None where a note says why.

    `baselines` are those of BkR. `described` has the sizes and conditions of each language pair.
    """

    n_clusters: int
    scores: dict[Key, Score | None] = field(default_factory=dict)
    notes: dict[Key, str] = field(default_factory=dict)
    baselines: dict[Subject, Baseline] = field(default_factory=dict)
    described: dict[Pair, dict[str, Any]] = field(default_factory=dict)

    def enter(self, ranked: Ranked, measures: Mapping[str, QueryMeasure]) -> None:
        """Take the scores of an encoder by some measures, given by their names here."""
        for name, measure in measures.items():
            scored = score(measure, ranked.values[measure.name], ranked.clusters)
            self.scores[name, ranked.encoder, ranked.subject] = scored
            if name == "BkR":
                self.baselines[ranked.subject] = ranked.baselines[measure.name]

    def pair(self, pair: Pair, families: Mapping[str, str], threshold: float, seed: int) -> PairValidation:
        """Average the scores of a language pair over its seeds, and correlate them over encoders."""
        subjects = [subject for subject in self.baselines if subject.pair == pair]
        baselines = [self.baselines[subject] for subject in subjects]
        scored = {key[0] for key in self.scores}
        names = [name for name in (TRUTH, *MEASURES, TRUTH_AT_1) if name in scored]
        encoders: list[EncoderScores] = []
        per_seed: dict[str, list[list[float | None]]] = {name: [] for name in names}
        influences: dict[str, list[Floats]] = {name: [] for name in names}
        for encoder, family in families.items():
            columns = {}
            for name in names:
                columns[name], mean = self._over_seeds([(name, encoder, subject) for subject in subjects])
                per_seed[name].append(columns[name].per_seed)
                influences[name].append(influence(mean, self.n_clusters))
                if name == "BkR":
                    normal, _ = normalised(mean, baselines)
            encoders.append(EncoderScores(encoder, family, normal, columns))
        values = {name: np.array(rows, dtype=np.float64).T for name, rows in per_seed.items()}  # None: NaN
        table = ScoreTable.of(families, values, influences, seed)
        described = self.described[pair]
        sizes = {name: str(size) for name, size in described.items() if name.startswith("n_")}
        conditions = {**described["conditions"], **sizes, "seeds": str(len(subjects))}
        return PairValidation(
            source=pair[0],
            target=pair[1],
            n_seeds=len(subjects),
            chance=mean_known([baseline.chance for baseline in baselines]),
            oracle=mean_known([None if b.oracle is None else b.oracle.value for b in baselines]),
            encoders=encoders,
            subsets=subsets(table, threshold),
            **(described | {"conditions": conditions}),
        )

    def _over_seeds(self, keys: Sequence[Key]) -> tuple[SeedScores, Score | None]:
        """Average the scores of all seeds; None where a seed has no score."""
        scores, notes = [self.scores[key] for key in keys], [self.notes.get(key) for key in keys]
        values = [None if score is None else score.value for score in scores]
        present = [score for score in scores if score is not None]
        if len(present) < len(scores):
            return SeedScores(None, None, values, None, notes[values.index(None)]), None
        mean, sd = Score.mean(present), spread([score.value for score in present])
        note = next(filter(None, notes), "one seed, no spread over seeds" if sd is None else None)
        return SeedScores(mean.value, sd, values, mean.interval(), note), mean


def influence(mean: Score | None, n_clusters: int) -> Floats:
    """Sum what each cluster of items contributes to the error of a mean, float64 [n_clusters].

    A query of BkR is in two clusters, its own and that of the text it retrieved, and counts in both; so the
    sums are scaled until their squares add up to the variance of the mean's interval, which counts what two
    clusters share once. Zeros without a mean.
    """
    total = np.zeros(n_clusters)
    for part in () if mean is None else mean.parts:
        for number, clusters in enumerate(part.ways):
            # a query for which several texts tie is in its own cluster only: its second id is negative
            counted = clusters >= 0 if number == 0 else (clusters >= 0) & (clusters != part.ways[0])
            total += np.bincount(clusters[counted], part.residuals[counted], n_clusters)
    squares = float(total @ total)
    if mean is None or squares <= 0:
        return total
    return np.asarray(total * (max(variance(mean.parts) - mean.counted_twice, 0.0) / squares) ** 0.5)


@takes_data()
@answers(ValidateRequest)
def validate_backretrieval(
    manifest: ManifestLike,
    text_encoders: EncoderSpecs,
    *,
    image_encoder: EncoderLike,
    pairs: str | Sequence[str] | None = None,
    both_directions: bool = False,
    sample: SampleLike = "all",
    texts_per_item: int | Literal["all"] = "all",
    seeds: int | None = None,
    seed: int = 0,
    measure: str | Measure = "R@10",
    family: str | None = None,
    threshold: float = 0.5,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    skip_broken: bool = False,
    **columns: Unpack[DataOptions],
) -> Validation:
    """Compare Backretrieval, SIM and CORR with true cross-lingual retrieval, over encoders.

    BkR, SIM and CORR have the non-matching samples of `backretrieval`, XLR matching ones of as many items.
    Where fewer items have both languages, all take that many, with a warning: both choose among as many
    candidates. A language pair without an item in both is left out with a warning, unless it is named.

    Arguments as in `backretrieval`, and: `both_directions` adds the reverse of each pair; `seeds` None draws
    25 samples; `measure` is R@k, of XLR its hit rate (Success@k where an item has several target texts);
    `family` is a regular expression, whose first group, or else the whole match, is an encoder's family;
    `threshold` is the XLR that divides the encoders into below and above.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    recall, fixed = _recall(measure), fixed_samples(sample)
    with collected_warnings() as warnings:
        named = pairs
        if both_directions and pairs is not None:
            both = resolve_pairs(pairs, manifest.languages)
            named = [f"{a}:{b}" for pair in both for a, b in (pair, pair[::-1])]
        drawn = seeds if seeds is not None else 1 if fixed else SEEDS
        options = Options(
            named, sample, drawn, seed, threads, progress, skip_broken, open_store(store), ranker,
            texts_per_item=texts_per_item,
        )  # fmt: skip
        run = PairRun(NAME, manifest, options, matching=False, image_spec=image_encoder)
        run.takes_runs = run.ranks_texts = False
        run.tasks, matching = _paired_tasks(run, strict=pairs is not None)
        run.prepare(text_encoders, matching)
        families = _families(list(run.text_encoders), family)
        crosslingual_retrieval.refuse_small_pools(matching, [recall])
        image_name, identity, images = run.images()
        refuse_small_pools(images, run.tasks, [recall])
        measured = _measure(run, matching, (identity, images), recall)
        with run.stage("agreement", "agreement over encoders"):
            records = [measured.pair(pair, families, threshold, seed) for pair in measured.described]
    return Validation(
        *(recall.name, image_name, threshold, family, records),
        warnings=warnings, timings=dict(run.seconds), truncated=run.truncated,
    )  # fmt: skip


def validation_of(
    results: Sequence[Results | str | Path],
    *,
    measure: str | Measure = "R@10",
    family: str | None = None,
    threshold: float = 0.5,
    seed: int = 0,
) -> Validation:
    """Validate results of Backretrieval, XLR and CORR, or their folders.

    Only encoders, language pairs and seeds that are in all three take part. Items of CORR are not drawn
    again: its results have no queries. `seed` is that of the bootstrap; other arguments are those of
    `validate_backretrieval`.

    Raises:
        InputError: a task is missing, fewer than three encoders are in all, or options are invalid.

    """
    import pyarrow.compute as pc

    recall = _recall(measure)
    runs = [run if isinstance(run, Results) else Results.read(run) for run in results]
    names = {("backretrieval", recall.name): "BkR", ("backretrieval", "SIM"): "SIM"}
    names |= {("crosslingual-retrieval", f"{hit}@{recall.k}"): TRUTH for hit in ("R", "Success")}
    names["distance-correlation", "CORR"] = "CORR"
    entries: dict[Key, tuple[Entry, Results]] = {}
    for run in runs:
        for entry in run.entries:
            if name := names.get((entry.task, entry.measure)):
                entries[name, entry.encoder, Subject(entry.source, entry.target, entry.seed)] = entry, run
    for (task, missing), name in names.items():
        if not any(key[0] == name for key in entries):
            raise InputError(
                f"a validation from results needs {missing} of {task}, and none of them has it: evaluate "
                f"{task} with the same encoders and pairs, and name its folder too"
            )
    in_all = set.intersection(
        *({key[1:] for key in entries if key[0] == name} for name in set(names.values()))
    )
    subjects = {subject for _, subject in in_all}
    encoders = [
        encoder
        for encoder in dict.fromkeys(key[1] for key in entries)
        if in_all.issuperset((encoder, subject) for subject in subjects)
    ]
    families = _families(encoders, family)
    clusters = [run.per_query[name] for run in runs for name in ("cluster", "retrieved_cluster")]
    measured = Measured(1 + max((pc.max(ids).as_py() or 0 for ids in clusters if len(ids)), default=0))
    for key, (entry, run) in entries.items():
        name, encoder, subject = key
        if encoder not in families or subject not in subjects:
            continue
        measured.scores[key] = _score_of(entry, run)
        measured.notes |= {key: entry.note} if entry.note else {}
        if name == "BkR":
            no_error = ResidualPart(np.zeros(1), (np.full(1, -1),))
            oracle = None if entry.oracle is None else Score(entry.oracle, (no_error,), None)
            measured.baselines[subject] = Baseline(entry.chance, oracle, entry.ceiling)
            conditions = dict(Signature.parse(entry.signature).conditions)
            measured.described.setdefault(subject.pair, {
                "n_source": entry.n_source, "n_target": entry.n_target, "k": recall.k,
                "n_pictures": round(recall.k / entry.chance) if entry.chance else entry.n_source,
                "n_matching": entries[TRUTH, encoder, subject][0].n_source,
                "conditions": conditions | {"sample": conditions.get("sample", "").partition("#")[0]},
            })  # fmt: skip
    images = listed(sorted({entry.image_encoder for entry, _ in entries.values() if entry.image_encoder}))
    records = [measured.pair(pair, families, threshold, seed) for pair in measured.described]
    warnings = [warning for run in runs for warning in run.warnings]
    return Validation(recall.name, images, threshold, family, records, warnings=warnings)


def _score_of(entry: Entry, run: Results) -> Score | None:
    """Make the score of an entry with the residuals of its queries, where the table has them."""
    import pyarrow.compute as pc

    if entry.value is None:
        return None
    chosen = pc.equal(run.per_query["seed"], entry.seed)
    for column in ("task", "encoder", "source", "target", "measure"):
        chosen = pc.and_(chosen, pc.equal(run.per_query[column], getattr(entry, column)))
    rows = run.per_query.filter(chosen)
    values = rows["value"].to_numpy()
    if not len(values):
        return Score(entry.value, (), None, fixed=entry.ci)
    ways = [rows["cluster"].to_numpy()]
    if entry.task == "backretrieval":  # queries that retrieve the same text are not independent
        retrieved = rows["retrieved_cluster"]
        alone = -1 - np.arange(len(values)) - ((entry.seed % 2**20) << 40)  # in each sample another one
        ways.append(np.where(pc.is_valid(retrieved), retrieved.fill_null(0).to_numpy(), alone))
    part = ResidualPart((values - entry.value) / len(values), tuple(ways))
    bounds = (-1.0, 1.0) if entry.measure == "SIM" else (0.0, 1.0)
    return Score(entry.value, (part,), bounds, bounds[1] - bounds[0])


def _recall(measure: str | Measure) -> RecallAt:
    """Read R@k, of which Success@k is another name here; raise InputError for other measures."""
    parsed = parse_measure(measure)
    if not isinstance(parsed, RecallAt | SuccessAt):
        raise InputError(f"{parameter('measure', parsed.name)}: a validation takes R@k, for instance R@10")
    return RecallAt(parsed.k)


def _families(encoders: Sequence[str], pattern: str | None) -> dict[str, str]:
    """Name the family of each encoder: the first group of the match, else the whole match, else its name."""
    if len(encoders) < FEWEST_ENCODERS:
        raise InputError(
            f"a validation correlates measures over text encoders: at least {FEWEST_ENCODERS} are needed, "
            f"found {len(encoders)} ({listed(encoders, 12) or 'none'}); add some with "
            f"{parameter('text_encoders')}, or results of the same encoders"
        )
    try:
        matches = {name: re.search(pattern or "", name) for name in encoders}
    except re.error as error:
        raise InputError(
            f"{parameter('family', str(pattern))} is not a regular expression ({error}); for instance "
            "'^[a-z]+' takes the letters a name begins with"
        ) from error
    groups = {name: (*match.groups()[:1], match[0]) if match else () for name, match in matches.items()}
    return {name: next(filter(None, found), name) for name, found in groups.items()}


def _paired_tasks(run: PairRun, *, strict: bool) -> tuple[list[PairTask], list[PairTask]]:
    """Draw the non-matching tasks, and the matching task of each, with as many items as far as there are."""
    apart: list[PairTask] = []
    same: list[PairTask] = []
    left_out: list[str] = []
    item, rows_of = run.manifest.item, run.manifest.rows_of
    for (source, target), numbers in by_pair(run.tasks).items():
        if not strict and not np.isin(item[rows_of(source)], item[rows_of(target)]).any():
            left_out.append(f"{source}-{target}")
            continue
        tasks, sampler = [run.tasks[number] for number in numbers], copy(run.sampler)
        first = tasks[0].sample
        n_source, n_target = (len(np.unique(item[rows])) for rows in (first.source, first.target))
        samples = sampler.matching(source, target, n_source)
        sampler.size = most = len(np.unique(item[samples[0].source]))
        if sampler.fixed is None and max(n_source, n_target) > most:
            warn(
                f"{source}-{target}: only {most} items for XLR, which needs both languages, so BkR, SIM and "
                f"CORR use as many (of {n_source} sources and {n_target} targets): all choose among as many"
            )
            tasks = [PairTask(source, target, sample) for sample in sampler.non_matching(source, target)]
        apart += tasks
        same += [PairTask(source, target, sample) for sample in samples]
    if not apart:
        raise InputError(
            "no item has texts in two languages, and XLR needs matching texts: give an item column, or use "
            "evaluate backretrieval, which needs none"
        )
    if left_out:
        pairs = f"{len(left_out)} language pairs are" if len(left_out) > 1 else "a language pair is"
        warn(f"{pairs} left out ({listed(left_out, 20)}): no item has texts in both, which XLR needs")
    return apart, same


def _measure(
    run: PairRun, matching: Sequence[PairTask], images: tuple[str, ImageIndex], recall: RecallAt
) -> Measured:
    """Evaluate all encoders by each task; every encoder encodes once, and all share the ways of images."""
    identity, index = images
    measured = Measured(int(run.manifest.cluster.max(initial=-1)) + 1)
    truth, texts = copy(run), Backretrieval(run, [recall], index, "")
    truth.tasks = list(matching)
    hits = {TRUTH: SuccessAt(recall.k)} | ({TRUTH_AT_1: SuccessAt(1)} if recall.k > 1 else {})
    nearest: dict[str, list[Nearest]] = {}

    def encoded() -> Iterator[tuple[str, TextVectors]]:
        for name in run.text_encoders:
            vectors = run.encode(name, run.sides_of)
            nearest[name] = texts.nearest(name, vectors)
            for ranked in crosslingual_retrieval.ranks(
                truth, list(hits.values()), [(name, vectors)], first=0
            ):
                measured.enter(ranked, hits)
            yield name, run.without_role(name, vectors)  # a correlation of distances has no queries

    for name, number, correlation in distance_correlation.correlations(run, encoded(), index):
        key = "CORR", name, run.subjects[number]
        measured.scores[key] = correlation.score
        measured.notes |= {key: correlation.note} if correlation.note else {}
    for ranked in texts.ways(nearest, hubs=False):
        measured.enter(ranked, {"BkR": recall, "SIM": SIM})
    for pair, numbers in by_pair(run.tasks).items():
        first, same = run.tasks[numbers[0]], [matching[number] for number in numbers]
        signature = run.signature(run.conditions(first, images=identity), recall.name)
        conditions = dict(Signature.parse(signature).conditions)
        if crosslingual_retrieval.several_answers(run.manifest, same):
            conditions["xlr"] = SuccessAt(recall.k).name
        shown = [len(np.unique(index.code[run.tasks[number].sample.source])) for number in numbers]
        measured.described[pair] = {
            "n_source": len(first.sample.source),
            "n_target": len(first.sample.target),
            "n_matching": len(same[0].sample.source),
            "n_pictures": round(float(np.mean(shown))),
            "k": recall.k,
            "conditions": conditions | {"sample": run.sampler.described(*pair, matching=True)},
        }
    return measured
