"""Metric validation: whether measures that need no translations order encoders as true retrieval does.

For each encoder and seed XLR on a matching sample, BkR, SIM and CORR on a non-matching one; then agreement
with XLR over the encoders (Fain, Twomey and Bollegala, SIGIR 2021, Table 1 and Figure 2).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Unpack

from xlingual.data.manifest import DataOptions, ManifestLike, takes_data
from xlingual.data.samples import resolve_pairs
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError, parameter
from xlingual.evaluation.backretrieval.evaluate import NAME
from xlingual.evaluation.backretrieval.images import refuse_small_pools
from xlingual.evaluation.crosslingual_retrieval import refuse_small_pools as refuse_small_truth
from xlingual.evaluation.metric_validation.degrade import NONE, parse_levels
from xlingual.evaluation.metric_validation.measure import ValidationRun, at_1
from xlingual.evaluation.metric_validation.paired_samples import paired_samples
from xlingual.evaluation.metric_validation.records import Assembly
from xlingual.evaluation.pair_run import PairRun
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, collected_warnings
from xlingual.measures import Measure, RecallAt, SuccessAt, parse_measure
from xlingual.ranking import Ranker
from xlingual.requests import answers
from xlingual.requests.validating import ValidateBackretrievalRequest
from xlingual.results.validation import Validation
from xlingual.store import StoreLike, open_store

SEEDS = 25
FEWEST = 3  # encoders over which a correlation says anything


@takes_data()
@answers(ValidateBackretrievalRequest)
def validate_backretrieval(
    manifest: ManifestLike,
    text_encoders: EncoderSpecs,
    *,
    image_encoder: EncoderLike,
    pairs: str | Sequence[str] | None = None,
    both_directions: bool = False,
    sample_size: int | None = None,
    or_fewer: bool = False,
    texts_per_item: int | Literal["all"] = "all",
    splits: str | Path | None = None,
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
    preset: str | None = None,
    **columns: Unpack[DataOptions],
) -> Validation:
    """Compare Backretrieval, SIM and CORR with true cross-lingual retrieval, over encoders.

    BkR, SIM and CORR use the non-matching samples of `backretrieval`. XLR uses the items of the same
    `sample_size` (the sources of BkR, where all items have both languages), with `splits` the items of its
    rows S; where neither is given, as many items as BkR has sources. Where fewer items have both languages,
    the samples of BkR are cut to their number, with a warning: both choose among as many candidates.

    Args:
        manifest: texts with images; the items of a pair must have texts in both languages.
        text_encoders: specs, paths or objects with `encode`, three at least; a mapping names them.
        image_encoder: one spec, path or object; its cosine is the image similarity g.
        pairs: language pairs such as "en-de"; None takes all ordered pairs with items in both languages.
        both_directions: add the reverse of each pair.
        sample_size: items drawn for each side; None takes all.
        or_fewer: where a language pair has fewer items than `sample_size`, take as many as it has.
        texts_per_item: texts of an item in a language that take part, drawn for each seed; or "all".
        splits: an `.npz` with fixed samples, instead of `sample_size`, `seeds` and `seed`.
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
        preset: "paper" stands for the sampling of the paper (reference/samples), but for arguments that are
            given.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    recall, pattern = recall_of(measure), family_pattern(family)
    levels = [NONE, *([] if degrade is None else parse_levels(degrade))]
    if splits is not None and seeds is not None:
        raise InputError(f"{parameter('splits')} fixes samples and seeds: leave out {parameter('seeds')}")
    drawn = SEEDS if seeds is None and splits is None else seeds or 1  # the rows of splits are the seeds
    with collected_warnings() as warnings:
        named = pairs
        if both_directions and pairs is not None:
            known = resolve_pairs(pairs, manifest.languages)
            named = [f"{a}:{b}" for one in known for a, b in (one, one[::-1])]
        options = Options(
            *(named, sample_size, splits, drawn, seed, threads, progress, skip_broken),
            *(open_store(store), ranker),
            or_fewer=or_fewer,
            texts_per_item=texts_per_item,
        )
        run = PairRun(NAME, manifest, options, matching=False, image_spec=image_encoder)
        run.ranks_texts = False
        run.tasks, matching = paired_samples(manifest, run.tasks, run.sampler, strict=pairs is not None)
        run.prepare(text_encoders, matching)
        if len(names := list(run.text_encoders)) < FEWEST:
            raise InputError(
                f"a validation correlates measures over text encoders: at least {FEWEST} are needed, found "
                f"{len(names)} ({', '.join(names)}); add some with {parameter('text_encoders')}"
            )
        refuse_small_truth(matching, [recall])
        image_name, image_source, images = run.images()
        refuse_small_pools(images, run.tasks, [recall])
        found = ValidationRun(run, matching, (image_source, images), recall, levels).measure_all()
        families = {name: family_of(pattern, name) for name in run.text_encoders}
        with run.stage("agreement", "agreement over encoders"):
            assembly = Assembly(found, recall, families, seed)
            pairs_found, turned = assembly.pairs(threshold), assembly.directions()
            degraded = [] if degrade is None else assembly.degradations(levels)
    first = at_1(recall)
    return Validation(
        recall.name,
        image_name,
        threshold,
        family,
        pairs_found,
        turned,
        degraded,
        warnings,
        timings=dict(run.seconds),
        measure_at_1=None if first is None else first.name,
        truncated=run.truncated,
    )


def recall_of(measure: str | Measure) -> RecallAt:
    """Return the measure of a validation; raise InputError where it is not R@k."""
    found = parse_measure(measure)
    found = RecallAt(found.k) if isinstance(found, SuccessAt) else found
    if not isinstance(found, RecallAt):
        raise InputError(f"{parameter('measure', found.name)}: a validation takes R@k, for instance R@10")
    return found


def family_pattern(family: str | None) -> re.Pattern[str] | None:
    """Return the expression that finds an encoder's family; raise InputError where it is none."""
    try:
        return None if family is None else re.compile(family)
    except re.error as error:
        raise InputError(
            f"{parameter('family', family)} is not a regular expression ({error}); for instance '^[a-z]+' "
            "takes the letters a name begins with"
        ) from error


def family_of(pattern: re.Pattern[str] | None, name: str) -> str:
    """Return the first group of the match in a name, else the whole match, else the name."""
    match = None if pattern is None else pattern.search(name)
    if match is None:
        return name
    return (match.group(1) if match.re.groups else None) or match.group(0) or name
