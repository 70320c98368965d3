"""Metric validation: whether measures that need no translations order encoders as true retrieval does.

For each encoder and seed XLR on a matching sample, BkR, SIM and CORR on a non-matching one; then agreement
with XLR over the encoders (Fain, Twomey and Bollegala, SIGIR 2021, Table 1 and Figure 2).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal, Unpack

import numpy as np
from msgspec import structs

from xlingual.data.manifest import DataOptions, ManifestLike, takes_data
from xlingual.data.samples import SampleLike, fixed_samples, resolve_pairs
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError, listed, parameter
from xlingual.evaluation.backretrieval.evaluate import NAME
from xlingual.evaluation.backretrieval.images import refuse_small_pools
from xlingual.evaluation.crosslingual_retrieval import refuse_small_pools as refuse_small_truth
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.metric_validation.agreement import ScoreTable, agreements, directions, subsets
from xlingual.evaluation.metric_validation.degrade import NONE, Weakening, parse_levels
from xlingual.evaluation.metric_validation.measure import Measured, Pair, ValidationRun, at_1, paired_samples
from xlingual.evaluation.numbers import Baseline, Subject
from xlingual.evaluation.pair_run import PairRun
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, collected_warnings
from xlingual.measures import Measure, RecallAt, SuccessAt, parse_measure
from xlingual.ranking import Ranker
from xlingual.requests import answers
from xlingual.requests.validating import ValidateBackretrievalRequest
from xlingual.results import Entry, Results
from xlingual.results.validation import TRUTH, TRUTH_AT_1, Degradation, PairValidation, Validation
from xlingual.signature import Signature
from xlingual.stats import ResidualPart
from xlingual.store import StoreLike, open_store

SEEDS = 25
FEWEST = 3  # encoders over which a correlation says anything
Numbers = dict[tuple[str, str, Subject], tuple[Entry, Results]]  # by the name of a measure, and encoder


@takes_data()
@answers(ValidateBackretrievalRequest)
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
    degrade: str | None = None,
    threshold: float = 0.5,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    skip_broken: bool = False,
    **columns: Unpack[DataOptions],
) -> Validation:
    """Compare Backretrieval, SIM and CORR with true cross-lingual retrieval, over encoders.

    BkR, SIM and CORR use the non-matching samples of `backretrieval`. XLR uses as many items (the sources of
    BkR, where all items have both languages), of fixed samples the items of rows S. Where fewer items have
    both languages, the samples of BkR are cut to their number, with a warning: both choose among as many
    candidates.

    Args:
        manifest: texts with images; the items of a pair must have texts in both languages.
        text_encoders: specs, paths or objects with `encode`, three at least; a mapping names them.
        image_encoder: one spec, path or object; its cosine is the image similarity g.
        pairs: language pairs such as "en-de"; None takes all ordered pairs with items in both languages.
        both_directions: add the reverse of each pair.
        sample: items of each side, drawn at random: at most so many, "all", or an `.npz` of fixed samples,
            whose rows are the seeds.
        texts_per_item: texts of an item in a language that take part, drawn for each seed; or "all".
        seeds: number of samples drawn, with seeds `seed` … `seed` + `seeds` − 1; 25 where None.
        seed: the first seed.
        measure: R@k, of BkR and of XLR, whose number is the hit rate: Success@k where an item has several
            target texts.
        family: a regular expression; an encoder's family is its first group, or else the whole match.
        degrade: weakened images, such as "dims=2,8,32;noise=0.5,1;shuffle".
        threshold: XLR that divides the encoders into below and above.
        threads: pieces of work done side by side; changes no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.
        skip_broken: leave out texts whose image is absent, missing or broken, with a warning.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    settings = _Settings(measure, family, threshold, seed)
    levels = [NONE, *([] if degrade is None else parse_levels(degrade))]
    drawn = seeds if seeds is not None else 1 if fixed_samples(sample) else SEEDS
    with collected_warnings() as warnings:
        named = pairs
        if both_directions and pairs is not None:
            resolved = resolve_pairs(pairs, manifest.languages)
            named = [f"{a}:{b}" for pair in resolved for a, b in (pair, pair[::-1])]
        options = Options(
            *(named, sample, drawn, seed, threads, progress, skip_broken),
            *(open_store(store), ranker),
            texts_per_item=texts_per_item,
        )
        run = PairRun(NAME, manifest, options, matching=False, image_spec=image_encoder)
        run.takes_runs = run.ranks_texts = False
        run.tasks, matching = paired_samples(manifest, run.tasks, run.sampler, strict=pairs is not None)
        run.prepare(text_encoders, matching)
        names = list(run.text_encoders)
        if len(names) < FEWEST:
            raise InputError(
                f"a validation correlates measures over text encoders: at least {FEWEST} are needed, found "
                f"{len(names)} ({', '.join(names)}); add some with {parameter('text_encoders')}"
            )
        refuse_small_truth(matching, [settings.recall])
        image_name, image_source, images = run.images()
        refuse_small_pools(images, run.tasks, [settings.recall])
        tasks = ValidationRun(run, matching, (image_source, images), settings.recall, levels)
        measured = tasks.measure_all()
        with run.stage("agreement", "agreement over encoders"):
            validation = settings.assemble(measured, names, image_name, [] if degrade is None else levels)
    return structs.replace(validation, warnings=warnings, timings=dict(run.seconds), truncated=run.truncated)


def validation_of(
    results: Sequence[Results | str | Path],
    *,
    measure: str | Measure = "R@10",
    family: str | None = None,
    threshold: float = 0.5,
    seed: int = 0,
) -> Validation:
    """Return the validation of results of Backretrieval, XLR and CORR, or of their folders.

    Only encoders, language pairs and seeds that are in all three take part; samples need not be those of a
    validation. Scores have the intervals of their queries; CORR has none in results, so that its items are
    not drawn again. Other arguments are those of `validate_backretrieval`; `seed` is that of the bootstrap.

    Raises:
        InputError: a task is missing, fewer than three encoders are in all, or options are invalid.

    """
    import pyarrow.compute as pc

    settings = _Settings(measure, family, threshold, seed)
    runs = [run if isinstance(run, Results) else Results.read(run) for run in results]
    numbers = _numbers(runs, settings.recall)
    encoders, subjects = _in_all(numbers)
    columns = [run.per_query[name] for run in runs for name in ("cluster", "retrieved_cluster")]
    last = max((pc.max(column).as_py() or 0 for column in columns if len(column)), default=0)
    measured, no_residuals = Measured(n_clusters=last + 1), ResidualPart(np.zeros(1), (np.full(1, -1),))
    for (name, encoder, subject), (entry, run) in numbers.items():
        if encoder in encoders and subject in subjects:
            measured.scores[NONE, name, encoder, subject] = _score(entry, run)
            measured.notes |= {(NONE, name, encoder, subject): entry.note} if entry.note else {}
            oracle = None if entry.oracle is None else Score(entry.oracle, (no_residuals,), None)
            measured.baselines[NONE, name, subject] = Baseline(entry.chance, oracle, entry.ceiling)
    for pair, of_pair in measured.pairs.items():
        bkr, truth = (numbers[name, encoders[0], of_pair[0]][0] for name in ("BkR", TRUTH))
        measured.sizes[pair] = {
            "n_source": bkr.n_source,
            "n_target": bkr.n_target,
            "n_matching": truth.n_source,
            # chance is K of the distinct images
            "n_pictures": round(settings.recall.k / bkr.chance) if bkr.chance else bkr.n_source,
        }
        conditions = Signature.parse(bkr.signature).conditions
        sample = conditions.get("sample", "").partition("#")[0]
        measured.conditions[pair] = {**conditions, "sample": sample}
    images = {entry.image_encoder for entry, _ in numbers.values() if entry.image_encoder}
    validation = settings.assemble(measured, encoders, listed(sorted(images)), [])
    return structs.replace(validation, warnings=[warning for run in runs for warning in run.warnings])


def _numbers(runs: Sequence[Results], recall: RecallAt) -> Numbers:
    """Return the entries that a validation takes; XLR@1 only where it is as complete as XLR."""
    names = {
        ("backretrieval", recall.name): "BkR",
        ("backretrieval", "SIM"): "SIM",
    }
    for hit in ("R", "Success"):
        names["crosslingual-retrieval", f"{hit}@1"] = TRUTH_AT_1
        names["crosslingual-retrieval", f"{hit}@{recall.k}"] = TRUTH
    names["distance-correlation", "CORR"] = "CORR"
    numbers: Numbers = {}
    for run in runs:
        for entry in run.entries:
            if name := names.get((entry.task, entry.measure)):
                numbers[name, entry.encoder, Subject(entry.source, entry.target, entry.seed)] = entry, run
    counts = Counter(name for name, *_ in numbers)
    for (task, measure), name in names.items():
        if not counts[name] and name not in ("SIM", TRUTH_AT_1):
            raise InputError(
                f"a validation from results needs {measure} of {task}, and none of them has it: evaluate "
                f"{task} with the same encoders and pairs, and name its folder too"
            )
    whole = counts[TRUTH_AT_1] >= counts[TRUTH]
    return {key: entry for key, entry in numbers.items() if whole or key[0] != TRUTH_AT_1}


def _in_all(numbers: Numbers) -> tuple[list[str], list[Subject]]:
    """Return the encoders and subjects that have all measures; raise InputError for fewer than three."""
    names = {key[0] for key in numbers if key[0] != TRUTH_AT_1}
    common = set.intersection(*({key[1:] for key in numbers if key[0] == name} for name in names))
    shared = {subject for _, subject in common}
    subjects = [subject for subject in dict.fromkeys(key[2] for key in numbers) if subject in shared]
    every = dict.fromkeys(key[1] for key in numbers)
    encoders = [name for name in every if all((name, subject) in common for subject in subjects)]
    if len(encoders) < FEWEST:
        raise InputError(
            f"a validation correlates measures over text encoders, and {len(encoders)} are in all results "
            f"({listed(encoders, 12) or 'none'}): evaluate {FEWEST} at least, with the same pairs and seeds"
        )
    return encoders, subjects


def _score(entry: Entry, run: Results) -> Score | None:
    """Return the score of an entry with the residuals of its queries, where the table has them."""
    import pyarrow.compute as pc

    if entry.value is None:
        return None
    chosen = pc.equal(run.per_query["seed"], entry.seed)
    for field in ("task", "encoder", "source", "target", "measure"):
        chosen = pc.and_(chosen, pc.equal(run.per_query[field], getattr(entry, field)))
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


class _Settings:
    """The measure, families, threshold and seed of a validation; raises InputError for invalid ones."""

    def __init__(self, measure: str | Measure, family: str | None, threshold: float, seed: int) -> None:
        recall = parse_measure(measure)
        recall = RecallAt(recall.k) if isinstance(recall, SuccessAt) else recall
        if not isinstance(recall, RecallAt):
            raise InputError(
                f"{parameter('measure', recall.name)}: a validation takes R@k, for instance R@10"
            )
        self.recall, self.family, self.threshold, self.seed = recall, family, threshold, seed
        try:
            self.pattern = re.compile("" if family is None else family)  # an empty match gives the name
        except re.error as error:
            raise InputError(
                f"{parameter('family', family)} is not a regular expression ({error}); for instance "
                "'^[a-z]+' takes the letters a name begins with"
            ) from error

    def assemble(
        self, measured: Measured, encoders: Sequence[str], image_encoder: str, levels: Sequence[Weakening]
    ) -> Validation:
        """Return the validation of the scores of encoders; `levels` are those of degradations."""
        for name in encoders:  # the first group of the match in a name, else the whole match, else the name
            match = self.pattern.search(name)
            groups = () if match is None else (*match.groups()[:1], match.group(0))
            measured.families[name] = next(filter(None, groups), name)
        of_directions = []
        for pair, back in combinations(measured.pairs, 2):
            if back == pair[::-1]:
                first, second = measured.series(NONE, pair), measured.series(NONE, back)
                of_directions += directions(first, second, ("-".join(pair), "-".join(back)), seed=self.seed)
        lowest = at_1(self.recall) if any(key[1] == TRUTH_AT_1 for key in measured.scores) else None
        return Validation(
            *(self.recall.name, image_encoder, self.threshold, self.family),
            [self._pair(measured, pair) for pair in measured.pairs],
            of_directions,
            [self._degradation(measured, level, pair) for pair in measured.pairs for level in levels],
            measure_at_1=None if lowest is None else lowest.name,
        )

    def _pair(self, measured: Measured, pair: Pair) -> PairValidation:
        sizes, n_seeds = measured.sizes[pair], len(measured.pairs[pair])
        conditions, (chance, oracle) = dict(measured.conditions[pair]), measured.baselines_of(NONE, pair)
        sample = conditions.pop("sample")
        counts = {name: str(size) for name, size in {**sizes, "seeds": n_seeds}.items()}
        return PairValidation.of(
            subsets(measured.series(NONE, pair), threshold=self.threshold, seed=self.seed),
            source=pair[0],
            target=pair[1],
            k=self.recall.k,
            n_seeds=n_seeds,
            chance=chance,
            oracle=oracle,
            **sizes,
            conditions=conditions | counts | {"sample": sample},
            encoders=measured.encoders(pair),
        )

    def _degradation(self, measured: Measured, level: Weakening, pair: Pair) -> Degradation:
        table = ScoreTable.of(measured.series(level, pair), self.seed)
        baselines = *measured.baselines_of(level, pair), measured.baselines_of(level, pair, "SIM")[1]
        return Degradation(
            *(level.kind, level.level, *pair, measured.neighbours[level], *baselines),
            agreement=agreements(table, self.seed),
        )
