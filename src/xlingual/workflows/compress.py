"""Who pays for compression: an encoder's vectors made smaller, and what each language pair loses by it.

The encoder's vectors are computed once. Each form is a function of them, ranked by the same exact core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np

from xlingual.comparison.compression import FULL, REPLICATES, FormLoss, full_values, losses
from xlingual.comparison.queries import Labels, Queries, sample_weights
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.reading.columns import DataOptions
from xlingual.data.taking import takes_data
from xlingual.embed import fit_texts_for, load_fit_texts
from xlingual.encoders import EncoderLike, parse
from xlingual.encoders.plugins import Known
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.compression import Asked, OverPairs, OverPool
from xlingual.evaluation.compression.asked import Fitting, FormValues
from xlingual.evaluation.compression.forms import Form, Wanted, order_of_tests, vectors_of
from xlingual.evaluation.near_duplicates import DECLARED
from xlingual.evaluation.run import Options, Progress, collected_warnings
from xlingual.ranking import Ranker, one_library_thread
from xlingual.records import Texts
from xlingual.requests import answers
from xlingual.requests.compressing import CompressRequest
from xlingual.results import compression as record
from xlingual.results.compression import KEPT, Compression
from xlingual.signature import CONVENTIONS, Signature
from xlingual.store import StoreLike, open_store


@takes_data(leave=MultilingualPool)
@answers(CompressRequest)
def compress(
    data: ManifestLike | MultilingualPool,
    text_encoder: EncoderLike,
    *,
    fit: str | None = None,
    dims: Sequence[int] = (),
    dtypes: Sequence[str] = (),
    reduce: Sequence[str] = (),
    rescore: int = 100,
    delta: float = 0.01,
    alpha: float = 0.05,
    pairs: str | Sequence[str] | None = None,
    measure: str | None = None,
    candidate_text: str = "sentence",
    cluster: str = DECLARED,
    replicates: int = REPLICATES,
    seed: int = 0,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    **columns: Unpack[DataOptions],
) -> Compression:
    """Measure what smaller forms of an encoder's vectors lose against the full ones, by language pair.

    Args:
        data: a manifest with translations (cross-lingual retrieval), or a multilingual pool (average
            precision of a single answer, by question and answer language).
        text_encoder: the encoder, a spec or an object.
        fit: texts that PCA and the levels of int8 are fitted on, FILE#SPLIT; none of them may be evaluated.
        dims: numbers of dimensions; unless given, all and what halving them up to four times leaves.
        dtypes: f32, f16, int8, binary; unless given all, int8 only with `fit`.
        reduce: truncate (the first dimensions), pca; unless given both, pca only with `fit`.
        rescore: how many of the first candidates by binary vectors are ordered again by the query's full
            numbers; 0 for none.
        delta: the loss from which a pair counts as harmed.
        alpha: chance that a form is wrongly said to be kept.
        pairs: language pairs, such as "en-de"; None: all.
        measure: R@k, Success@k or RR of a manifest; of a pool it is AP.
        candidate_text: of a pool, "sentence" or "sentence+context".
        cluster: what makes queries dependent, "declared" or "near-duplicates".
        replicates: sign flips of each test.
        seed: of these.
        threads: threads side by side; they change no number.
        ranker: what ranks; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again, as in the evaluations.

    Raises:
        InputError: data, encoder or options are invalid; the text says what to do.

    """
    wanted = Wanted(tuple(dims), tuple(dtypes), tuple(reduce), rescore, fit is not None)
    _check(delta, alpha, replicates)
    named = pairs.replace(",", " ").split() if isinstance(pairs, str) else pairs
    options = Options(
        pairs=named if isinstance(data, Manifest) else None,
        seed=seed,
        threads=threads,
        progress=progress,
        store=open_store(store),
        given_ranker=ranker,
        cluster=cluster,
    )
    with collected_warnings() as messages:
        load: Callable[[str], Texts]
        if isinstance(data, MultilingualPool):
            asked: Asked = OverPool(data, text_encoder, options, candidate_text, named, measure)
            load = load_fit_texts
        else:
            asked = OverPairs(data, text_encoder, options, measure)
            load = fit_texts_for(data)
        if (own := asked.encoder.hub_correction) is not None:
            warn(
                f"text encoder {asked.name!r} was chosen with a correction of hubs ({own.similarity}), which "
                "is left out: all forms are compared by cosine"
            )
        with asked.run.stage("texts: encode", "encoding texts to fit on"):
            fitting = None if fit is None else asked.fitting(partial(load, fit))
        forms = wanted.forms(asked.dim, 0 if fitting is None else fitting.rank)
        with asked.run.stage("texts: rank"), one_library_thread():
            values = _ranked(asked, fitting, forms)
        queries = _queries(asked, forms, values)
        with asked.run.stage("statistics"):
            report = asked.run.progress("testing forms")
            order = order_of_tests(forms)
            lost = losses(
                queries, delta, alpha, after=order, seed=seed, replicates=replicates, progress=report
            )
    below = str(replace(parse(text_encoder, Known()), name=None)) if isinstance(text_encoder, str) else None
    records = [
        _form(
            form,
            lost[form.name],
            values[form.name].whole,
            None if below is None else form.spec(below, fit),
        )
        for form in forms
    ]
    kept = [one for one in records if one.outcome == KEPT and one.bytes < 4 * asked.dim]
    return Compression(
        encoder=asked.name,
        task=asked.run.task,
        measure=asked.measure,
        dim=asked.dim,
        bytes=4 * asked.dim,
        delta=delta,
        alpha=alpha,
        full=full_values(queries),
        whole=values[FULL].whole,
        forms=records,
        smallest=min(kept, key=lambda one: (one.bytes, -one.value)).name if kept else None,
        fit=None if fitting is None else fitting.identity,
        n_fit=0 if fitting is None else len(fitting.vectors),
        signature=str(_signature(asked)),
        note=wanted.left_out(),
        conditions=asked.conditions(),
        warnings=messages,
        timings=dict(asked.run.seconds),
    )


def _check(delta: float, alpha: float, replicates: int) -> None:
    if not 0 < delta < 1:
        raise InputError(
            f"{parameter('delta', f'{delta:g}')}: expected more than 0 and less than 1: 0.01 is usual"
        )
    if not 0 < alpha < 0.5:
        raise InputError(
            f"{parameter('alpha', f'{alpha:g}')}: expected more than 0 and less than 0.5: 0.05 is usual"
        )
    if replicates + 1 < 2 / alpha:
        raise InputError(
            f"{parameter('replicates', str(replicates))} cannot show anything at alpha {alpha:g}: at least "
            f"{int(np.ceil(2 / alpha))} are needed"
        )


def _ranked(asked: Asked, fitting: Fitting | None, forms: Sequence[Form]) -> dict[str, FormValues]:
    """Return the values of the queries with the full vectors and with each form, by its name."""
    report, total = asked.run.progress("ranking forms"), len(forms) + 1
    report(0, total)
    found = {FULL: asked.values(asked.full)}
    for form, smaller, same in vectors_of(forms, asked.full, fitting):
        report(len(found), total)
        found[form.name] = (
            asked.rescored(same, smaller, form.rescored) if form.rescored else asked.values(smaller)
        )
    report(total, total)
    return found


def _queries(asked: Asked, forms: Sequence[Form], values: Mapping[str, FormValues]) -> Queries:
    """Return the queries with the values of all forms, as comparisons take them."""
    lines, names = asked.lines, (FULL, *(form.name for form in forms))
    seed = Labels(np.zeros(len(lines.pair), dtype=np.int64), (str(asked.run.options.seed),))
    tags = list(dict.fromkeys(tag for pair in lines.pairs for tag in pair))
    codes = np.array([[tags.index(tag) for tag in pair] for pair in lines.pairs])[lines.pair]
    labels = {
        "pair": Labels(lines.pair, tuple("-".join(pair) for pair in lines.pairs)),
        "source": Labels(codes[:, 0], tuple(tags)),
        "target": Labels(codes[:, 1], tuple(tags)),
        "seed": seed,
    }
    table = np.stack([values[name].lines for name in names])
    weight = sample_weights(lines.pair)
    return Queries(
        asked.run.task, asked.measure, names, table, weight, lines.cluster, None, labels, asked.conditions()
    )


def _form(form: Form, lost: FormLoss, whole: float | None, spec: str | None) -> record.Form:
    return record.Form(
        name=form.name,
        reduction=form.reduction,
        dim=form.dim,
        dtype=form.dtype,
        rescored=form.rescored,
        bytes=form.bytes,
        spec=spec,
        value=lost.value,
        loss=lost.loss,
        ci=lost.ci,
        whole=whole,
        outcome=lost.outcome,
        p=lost.p,
        p_adjusted=lost.p_adjusted,
        pairs=list(lost.pairs),
        note=lost.note,
    )


def _signature(asked: Asked) -> Signature:
    conditions = {
        **asked.conditions(),
        "measure": asked.measure,
        "ties": "expected",
        "conventions": CONVENTIONS,
    }
    return Signature(conditions, asked.run.system(asked.name, ("all", "all", asked.run.options.seed)))
