"""Retrieval by graded judgements, for encoders and systems that return lists, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.runs.qrels import QrelsLike
from xlingual.errors import InputError, parameter
from xlingual.evaluation.multilingual_pool.choice import check_candidate_text
from xlingual.evaluation.retrieval.judgements import (
    EXPECTED,
    check_relevant,
    check_ties,
)
from xlingual.evaluation.retrieval.retrieval_run import RetrievalRun
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, joined
from xlingual.evaluation.trec import check_depth, write_trec
from xlingual.measures import Measure, parse_retrieval_measures
from xlingual.ranking import Ranker
from xlingual.requests import answers
from xlingual.requests.evaluating import RetrievalRequest
from xlingual.results import Results
from xlingual.store import StoreLike, open_store


@answers(RetrievalRequest)
@keeping_warnings
def retrieval(
    pool: MultilingualPool | str | Path,
    text_encoders: EncoderSpecs = (),
    *,
    runs: RunsLike = (),
    qrels: QrelsLike | None = None,
    measures: str | Sequence[str | Measure] = ("nDCG@10",),
    relevant_from: int = 1,
    ties: str = EXPECTED,
    ignore_identical_ids: bool = False,
    candidate_text: str = "sentence",
    trec: str | Path | None = None,
    trec_depth: int | None = 1000,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    examples: bool = True,
) -> Results:
    """Evaluate text encoders and search engines by graded judgements of queries and candidates.

    Args:
        pool: queries and candidates, in one language or several: a pool, or the path of one, or of a
            retrieval folder of BEIR or MTEB; to choose languages or a split, `MultilingualPool.read`.
        text_encoders: one spec, encoder or `SearchRun`, several, or a mapping of names to them.
        runs: search systems by what they returned: {name: file, SearchRun or {query: {candidate: score}}}.
        qrels: judgements that take the place of those of `pool`, which is a path then: a file in TREC's or
            BEIR's form, or {query: {candidate: grade}}.
        measures: nDCG@k, nDCG(dcg='exp-log2')@k, Success@k, R@k, P@k, RR@k, AP@k, AP@k/min or Judged@k, and
            nDCG, AP, RR, MedR and Bpref, which look at whole rankings.
        relevant_from: grade from which a candidate is relevant; queries without such a one count as 0, as in
            MTEB and trec_eval.
        ties: "expected", the mean over all orders of what ties; or "trec", the order of trec_eval: scores
            compared as float32, of equal ones the last name first; what a run lacks was not found.
        ignore_identical_ids: leave candidates with the id of the query out, as BEIR and MTEB do for ArguAna
            and Quora. Hubs are not counted then.
        candidate_text: "sentence", or "sentence+context".
        trec: folder for run and qrels files.
        trec_depth: how many candidates of each query a run holds, None for all.
        threads: threads side by side; they change no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.
        examples: keep texts (hubs) in the results.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    chosen = parse_retrieval_measures(measures)
    check_ties(ties)
    if isinstance(pool, str | Path):
        pool = MultilingualPool.read(pool, qrels=qrels, unanswered=True)
    elif qrels is not None:
        raise InputError(
            f"{parameter('qrels')} is for the path of a pool: read it with MultilingualPool.read(path, "
            "qrels=…)"
        )
    elif not isinstance(pool, MultilingualPool):
        raise InputError(
            f"expected a MultilingualPool or its path, found {type(pool).__name__}: read it with "
            "MultilingualPool.read(path)"
        )
    check_candidate_text(pool, candidate_text)
    if trec is not None:
        check_depth(trec_depth)
    options = Options(
        threads=threads,
        progress=progress,
        store=open_store(store),
        given_ranker=ranker,
    )
    check_relevant(pool, relevant_from)
    if ignore_identical_ids and trec is not None:
        raise InputError(
            f"{parameter('trec')} writes all candidates, {parameter('ignore_identical_ids', True)} leaves "
            "some out: give one of the two"
        )
    run = RetrievalRun(
        pool,
        relevant_from,
        ties,
        candidate_text,
        options,
        examples=examples,
        ignore_identical_ids=ignore_identical_ids,
    )
    run.prepare(joined(text_encoders, runs))
    results = run.results(chosen)
    if trec is not None:
        with run.stage("trec", "writing rankings"):
            write_trec(results, trec, trec_depth)
    return run.finished(results)
