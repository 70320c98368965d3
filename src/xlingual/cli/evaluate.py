"""`xlingual evaluate`: one command for each task."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_folder, check_output
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import read_manifest, store_of, within_cost
from xlingual.cli.outcome import say_written, write_and_show
from xlingual.cli.ranking import approximate_ranker, chosen_ranker
from xlingual.cli.tasks import Tasks
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.evaluating import (
    BackretrievalRequest,
    CrosslingualRetrievalRequest,
    DistanceCorrelationRequest,
    ImageSentenceRequest,
    MultilingualPoolRequest,
    StsRequest,
)

if TYPE_CHECKING:
    from xlingual.ranking import Ranker
    from xlingual.results import Results
    from xlingual.results.calibration import Calibration


@click.group(cls=Tasks)
def evaluate() -> None:
    """Evaluate text encoders on your own data (bkr, xlr, corr and lareqa are short names)."""


@command(BackretrievalRequest, short_help="Pictures stand in for translations (bkr).")
def backretrieval(asked: BackretrievalRequest) -> None:
    """Backretrieval: pictures stand in for translations.

    For each source text the nearest text in the other language is found; its picture must lead back to the
    query's own picture. MANIFEST holds texts with pictures in two languages or more.
    """
    from xlingual.evaluation.backretrieval import backretrieval

    calibration = _calibration(asked)
    results = _evaluated(asked, backretrieval, lambda: read_manifest(asked.data))
    if calibration is not None:
        from xlingual.evaluation.calibration.estimate import with_estimates

        results = with_estimates(results, calibration)
        _say_none_estimated(results, quiet=asked.output.silent)
    _finish(asked, results)


@command(
    CrosslingualRetrievalRequest, short_help="The truth, where items have texts in both languages (xlr)."
)
def crosslingual_retrieval(asked: CrosslingualRetrievalRequest) -> None:
    """Cross-lingual retrieval: the ground truth, for items that have texts in both languages."""
    from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval

    _finish(asked, _evaluated(asked, crosslingual_retrieval, lambda: read_manifest(asked.data)))


@command(DistanceCorrelationRequest, short_help="Do texts lie as far apart as their pictures (corr).")
def distance_correlation(asked: DistanceCorrelationRequest) -> None:
    """Distance correlation: do texts lie as far apart as their pictures (a baseline without retrieval)."""
    from xlingual.evaluation.distance_correlation import distance_correlation

    _finish(asked, _evaluated(asked, distance_correlation, lambda: read_manifest(asked.data)))


@command(MultilingualPoolRequest, short_help="Find answers among candidates of all languages (lareqa).")
def multilingual_pool(asked: MultilingualPoolRequest) -> None:
    """Find answers in a multilingual pool, and see whether an encoder prefers its own language.

    Every question is asked in one language; its answers are among the candidates of all languages. POOL is a
    pool folder (see: xlingual data squad-to-pool, xlingual data mix-pool), or a folder of SQuAD-style files
    with sentence breaks, one for each language.
    """
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.evaluation.multilingual_pool.evaluate import multilingual_pool

    if asked.trec is not None:
        check_folder(asked.trec, "--trec")
    elif asked.trec_depth is not None:
        raise InputError(
            "--trec-depth is for the runs that --trec DIR writes: name a folder, or leave it out"
        )
    results = _evaluated(
        asked,
        multilingual_pool,
        lambda: MultilingualPool.read(asked.pool, asked.languages, asked.split),
        trec_depth=None if asked.trec_depth == "all" else (asked.trec_depth or 1000),
    )
    _finish(asked, results)
    if asked.trec is not None:
        screen.wrote(asked.trec, quiet=asked.output.quiet)


@command(ImageSentenceRequest, short_help="Find pictures for sentences, and sentences for pictures.")
def image_sentence(asked: ImageSentenceRequest) -> None:
    """Image–sentence ranking: does a sentence find its picture, and a picture its sentences.

    MANIFEST holds texts with pictures; an item may have several texts of a language, of which the best one
    counts. Text and image encoder must be of one model, such as CLIP, or model:DIR for both.
    """
    from xlingual.evaluation.image_sentence.evaluate import image_sentence

    _finish(asked, _evaluated(asked, image_sentence, lambda: read_manifest(asked.data)))


@command(StsRequest, short_help="Do cosines of sentences follow people's scores of likeness.")
def sts(asked: StsRequest) -> None:
    """Textual similarity: do cosines of two sentences follow what people say of how alike they are.

    Every FILE holds sentence pairs with a score: Parquet, JSONL, CSV or TSV with the columns score,
    sentence1, sentence2 and, if any, id; or a TSV of SemEval without a header. Shown are Pearson's and
    Spearman's correlation of cosine and score, and whether the encoders differ.
    """
    from xlingual.data.sentence_pairs import parse_columns
    from xlingual.evaluation.sts.evaluate import sts

    _finish(asked, _evaluated(asked, sts, lambda: asked.files, columns=parse_columns(asked.columns)))


for task in (
    *(backretrieval, crosslingual_retrieval, distance_correlation),
    *(multilingual_pool, image_sentence, sts),
):
    evaluate.add_command(task)


def _calibration(asked: BackretrievalRequest) -> Calibration | None:
    """Read the calibration, before any work is done; None where there is none."""
    if asked.calibration is None:
        return None
    if asked.approximation.approximate:
        raise InputError("--calibration was made of exact numbers: leave out --approximate")
    from xlingual.evaluation.calibration.estimate import check_measures
    from xlingual.results.calibration import Calibration

    calibration = Calibration.read(asked.calibration)
    check_measures(calibration, asked.measures)
    return calibration


def _say_none_estimated(results: Results, *, quiet: bool) -> None:
    if not quiet and not any(row.estimated_xlr for row in results.summary):
        screen.note("No XLR can be estimated: no value of Backretrieval.")


def _evaluated(
    asked: Any,  # noqa: ANN401  (a request of `evaluate`)
    task: Callable[..., Results],
    data: Callable[[], Any],
    **more: Any,  # noqa: ANN401
) -> Results:
    """Run a task as its request says, on what `data` reads; `more` are further keywords of the task."""
    output = asked.output
    check_output(output.out, output.report, asked.command.split()[-1])
    store = store_of(asked.keeping)
    given = keywords(asked, task) | more
    given |= {"text_encoders": within_cost(asked.text_encoders, asked.keeping), "store": store}
    if "ranker" in _parameters(task):
        given["ranker"] = _ranker(asked, store)
    with screen.warnings_as_lines(), screen.progress(output.silent) as progress:
        if progress is not None:
            progress("reading the data", 0, 1)
        given[_parameters(task)[0]] = data()
        return signed(task(**given, progress=progress), asked)


def _parameters(task: Callable[..., Results]) -> list[str]:
    return list(signature(task).parameters)


def _ranker(asked: Any, store: Any) -> Ranker:  # noqa: ANN401  (as above)
    ranker = chosen_ranker(asked.ranking, store, quiet=asked.output.quiet)
    if hasattr(asked, "approximation"):
        return approximate_ranker(asked.approximation, ranker, asked.ranking.threads)
    return ranker


def _finish(asked: Any, results: Results) -> None:  # noqa: ANN401  (as above)
    """Write and show what was found."""
    write_and_show(results, asked.output)
    say_written(results, asked.output)
