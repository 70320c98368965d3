"""The command `repair`: divide, encode, search, test once, write the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import msgspec
import numpy as np

from xlingual.align.search import CORRECTIONS, Judged, Search, search, steps
from xlingual.arrays import Vectors
from xlingual.comparison.compare import compare
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.pools.pool import MultilingualPool
from xlingual.embed.sides import (
    batch_identity,
    embed_pool,
    embed_roles,
    fit_texts_for,
    load_fit_texts,
    refuse_fitted_rows,
)
from xlingual.encoders import Encoder, EncoderLike, parse
from xlingual.encoders.transform import MappedTexts
from xlingual.errors import InputError, parameter
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.multilingual_pool import multilingual_pool
from xlingual.evaluation.multilingual_pool.evaluate import NAME
from xlingual.evaluation.pool_run import refuse_without_role
from xlingual.evaluation.run import Progress, Storing, collected_warnings
from xlingual.evaluation.similarity import banked
from xlingual.models.card import write_card
from xlingual.models.folder import BANK, FITTED_ON, TRANSFORM, ModelFolder, write_model
from xlingual.ranking import Cpu, Ranker
from xlingual.records import HubCorrection
from xlingual.requests import answers
from xlingual.requests.repairing import RepairRequest
from xlingual.results import Results
from xlingual.results.repair import (
    CROSSLINGUAL_MAP,
    POOL_MAP,
    UNCHANGED,
    Beside,
    LeftOut,
    Repair,
    TriedRepair,
)
from xlingual.signature import CONVENTIONS, Signature
from xlingual.store import StoreLike, open_store
from xlingual.transforms.affine import Affine
from xlingual.workflows.clock import Clock
from xlingual.workflows.one_encoder import one_encoder
from xlingual.workflows.places import Places
from xlingual.workflows.repairing.parts import (
    CROSSLINGUAL,
    POOL,
    SHARES,
    Divided,
    PartVectors,
    WholeVectors,
    digests_of,
    has_translations,
    pool_of_families,
    refuse_without_other,
    size_of,
    texts_of,
    three_parts,
)
from xlingual.workflows.repairing.tested import tested

MODEL = "model"
BEFORE, AFTER = "before", "after"
CRITERIA = {POOL: POOL_MAP, CROSSLINGUAL: CROSSLINGUAL_MAP}


class PartEncoder(Encoder):
    """Gives the vectors that were computed before, for the questions and candidates of a part of the pool."""

    identity = ""

    def __init__(self, part: PartVectors, identity: str) -> None:
        self.part, self.identity = part, identity

    def encode(self, batch: Any, /) -> Vectors:  # noqa: ANN401  (Texts of one side, all of them)
        """Return the vectors of the questions, or of the candidates."""
        return self.part.questions if batch.role == "query" else self.part.candidates


@dataclass
class Repaired:
    """What was found, and the map that was chosen; None where the encoder stays as it is.

    `request` and `run` are those of `found`.
    """

    found: Repair
    map: Affine | None
    base: dict[str, Any]  # the encoder, as the folder of a model names it
    source: str  # the data
    seen: frozenset[bytes]  # digests of the rows it was fitted or chosen on
    test: PartVectors  # the part for testing
    divided: Divided = field(kw_only=True)  # the rows of its parts
    correction: HubCorrection | None = field(default=None, kw_only=True)  # None: the cosine

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("request", "run"):
            name, value = "found", msgspec.structs.replace(self.found, **{name: value})
        super().__setattr__(name, value)

    def write(self, folder: str | Path) -> None:
        """Write the findings into a folder, the rows of the parts, and the transform, if any, in `model`."""
        self.divided.write(folder)
        if self.map is not None:
            self.write_model(Path(folder) / MODEL)
        self.found.write(folder)

    def write_model(self, folder: str | Path) -> ModelFolder:
        """Write the folder of the transform, for model:FOLDER::SPEC; raise InputError where there is none."""
        if self.map is None:
            raise InputError("nothing is better than the encoder as it is: there is no transform to write")
        found = self.found
        data = {"source": self.source, "digest": found.conditions["data"], "outcome": found.outcome}
        config = {
            "kind": TRANSFORM,
            "model": {
                "languages": self.map.places,
                "transforms": found.chosen,
                "similarity": found.similarity,
            },
            "base": self.base,
            "data": data,
        }
        digests = np.array([list(each) for each in sorted(self.seen)], dtype=np.uint8)
        arrays = self.map.arrays() | {FITTED_ON: digests}
        if self.correction is not None:
            arrays[BANK] = self.correction.bank
        return write_card(write_model(folder, config, arrays))

    def side_by_side(self) -> Results:
        """Return the evaluation of the part for testing, before and after, with all its views.

        Raises InputError where nothing changes.
        """
        if self.map is None:
            raise InputError("the encoder stays as it is: there is no other one beside it")
        vectors = PartEncoder(self.test, self.base["identity"])
        name, seed = self.found.encoder, int(self.found.conditions["parts"].rpartition("#")[2])
        both = {name: vectors, f"{name}-repaired": MappedTexts(vectors, self.map, self.correction)}
        return multilingual_pool(self.test.pool, both, seed=seed, store=None)


@takes_data(leave=MultilingualPool)
@answers(RepairRequest)
def repair_encoder(
    data: ManifestLike | MultilingualPool,
    text_encoder: EncoderLike,
    *,
    shares: Sequence[float] = SHARES,
    split_by: str = "paragraph",
    criterion: str = POOL,
    delta: float = 0.01,
    alpha: float = 0.05,
    image_encoder: EncoderLike | None = None,
    hubs: bool = True,
    candidate_text: str = "sentence",
    seed: int = 0,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    **columns: Unpack[DataOptions],
) -> Repaired:
    """Find the transform of an encoder's vectors that brings languages together best, and test it.

    The data are divided by whole clusters. Transforms are fitted on the first part; the one with the highest
    mAP on the second is chosen; the third says once what it changes, with paired intervals. Two criteria:

    - "pool": AP over the pool of all languages, the mean over questions;
    - "crosslingual": AP among the candidates of each other language by itself, the mean over the languages in
      which the question has an answer, then over questions. With one answer it is the mean reciprocal rank of
      a search from one language into another.

    Args:
        data: a multilingual pool, or a manifest with translations, which is mixed to one (`mix_pool`).
        text_encoder: the encoder, a spec or an object.
        shares: of the three parts: to fit on, to choose on, to test on.
        split_by: "paragraph" (clusters), or "article" where questions have articles.
        criterion: "pool" or "crosslingual": it is what is chosen by and tested; the other stands beside it.
        delta: the loss from which a language pair counts as harmed.
        alpha: level of the tests.
        image_encoder: of the images of a manifest: Backretrieval and SIM are shown beside the test.
        hubs: try corrections of hubs too, on the best transforms and on none; their bank are the questions
            of the first part.
        candidate_text: "sentence" or "sentence+context".
        seed: of the parts, and of the tests.
        threads: threads side by side; they change no number.
        ranker: what ranks; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again, as in the evaluations.

    Raises:
        InputError: data, encoder or options are invalid; the text says what to do.

    """
    _check_options(shares, delta, alpha)
    if criterion not in CRITERIA:
        raise InputError(f"{parameter('criterion', criterion)}: expected {' or '.join(CRITERIA)}")
    if isinstance(data, Manifest):
        _check_languages(data)
    elif image_encoder is not None:
        raise InputError(f"{parameter('image_encoder')}: a pool has no images: leave it out")
    ranker = Cpu(threads=threads) if ranker is None else ranker
    clock = Clock(progress)
    storing: Storing = {"store": open_store(store), "progress": progress}
    with collected_warnings() as messages:
        pool, n_near = pool_of_families(data, seed)
        parts = three_parts(pool, shares, seed, split_by)
        if criterion == CROSSLINGUAL:
            refuse_without_other(parts)
        fit_texts = fit_texts_for(data) if isinstance(data, Manifest) else load_fit_texts
        name, encoder = one_encoder(text_encoder, pool.languages, fit_texts, pool.role_languages)
        with clock.stage("texts: encode"):
            places = Places.of(data)
            texts = [texts_of(data, places, part, candidate_text) for part in parts]
            refuse_fitted_rows({name: encoder}, *texts[1], *texts[2], **storing)
            whole = _whole(data, places, name, encoder, candidate_text, storing)
            identity = batch_identity(encoder)
        fit, choose, test = (whole.part(part) for part in parts)
        with clock.stage("search"):
            report = clock.of("trying transforms")
            found = _searched(fit, choose, ranker, report, criterion, hubs=hubs)
        unchanged = found.chosen is found.plain
        map = None if unchanged else found.chosen.map or Affine.identity(fit.questions.shape[1])
        correction = fit.correction(map, found.chosen.similarity)
        with clock.stage("test", "testing"):
            before = test.found(None, ranker)
            repair = None if correction is None else banked(correction)
            after = before if unchanged else test.found(map, ranker, repair)
            changes = tested(before, after, criterion=criterion, delta=delta, alpha=alpha, seed=seed)
        more = []
        if image_encoder is not None:
            assert isinstance(data, Manifest)
            items = set(parts[2].questions.key)
            more = beside(data, items, encoder, map, correction, image_encoder, storing["store"], seed)
    divided = Divided(data, [places.rows(part) for part in parts])
    conditions = _conditions(pool, shares, split_by, candidate_text, criterion, seed)
    dim = int(fit.questions.shape[1])
    result = Repair(
        encoder=name,
        spec=str(replace(parse(text_encoder), name=None)) if isinstance(text_encoder, str) else None,
        dim=dim,
        criterion=CRITERIA[criterion],
        alpha=alpha,
        delta=delta,
        fit=size_of(parts[0]),
        choose=size_of(parts[1]),
        test=size_of(parts[2]),
        **_search_fields(found),
        outcome=UNCHANGED if unchanged else changes.outcome,
        **changes.fields(alpha),
        beside=more,
        signature=str(Signature(conditions, {"encoder": identity})),
        conditions=conditions,
        warnings=list(messages),
        timings=clock.seconds,
        model=None if map is None else MODEL,
        parts=divided.name,
        n_texts=sum(len(part.questions) + len(part.candidates) for part in parts),
        near_duplicates=n_near,
    )
    base = {"name": name, "identity": identity, "dim": dim, "languages": list(pool.languages)}
    seen = digests_of([*texts[0], *texts[1]])
    return Repaired(result, map, base, pool.source, seen, test, divided=divided, correction=correction)


def _search_fields(found: Search) -> dict[str, Any]:
    """Return what was tried and chosen, as fields of the record."""
    return {
        "tried": [TriedRepair(one.spec, one.similarity, one.judged.value) for one in found.tried],
        "left_out": [LeftOut(one.spec, one.why) for one in found.left_out],
        "chosen": found.chosen.spec,
        "similarity": found.chosen.similarity,
    }


def _whole(
    data: Manifest | MultilingualPool,
    places: Places,
    name: str,
    encoder: Encoder,
    candidate_text: str,
    storing: Storing,
) -> WholeVectors:
    """Return the vectors of all texts of the data, each encoded once."""
    if isinstance(data, MultilingualPool):
        refuse_without_role({name: encoder})
        found = embed_pool(data, name, encoder, candidate_text, **storing)
        return WholeVectors(found.questions, found.candidates, places)
    rows = np.arange(len(data))
    sides = embed_roles(data, name, encoder, rows, rows, **storing)
    return WholeVectors(sides.queries.vectors, sides.candidates.vectors, places)


def _searched(
    fit: PartVectors,
    choose: PartVectors,
    ranker: Ranker,
    progress: Callable[[int, int], None],
    criterion: str,
    *,
    hubs: bool,
) -> Search:
    """Return all transforms fitted on one part, as another part finds them.

    `hubs`: with corrections of hubs.
    """
    fitting = fit.fit_data()

    def judge(map: Affine | None, similarity: str) -> Judged:
        values = choose.precision(map, ranker, fit.corrected(map, similarity), criterion)
        values = values[~np.isnan(values)]
        return Judged(float(values.mean()), values)

    return search(
        fitting,
        judge,
        steps(fit.questions.shape[1], len(fitting.moments), translations=has_translations(fitting)),
        similarities=CORRECTIONS if hubs else (),
        progress=progress,
    )


def _conditions(
    pool: MultilingualPool,
    shares: Sequence[float],
    split_by: str,
    candidate_text: str,
    criterion: str,
    seed: int,
) -> dict[str, str]:
    """Return what the numbers depend on, beside the encoder."""
    return {
        "task": NAME,
        "languages": ",".join(pool.languages),
        "data": pool.digest[:12],
        "parts": ":".join(f"{share:g}" for share in shares) + f"#{seed}",
        "parts-by": split_by,
        "candidates": candidate_text,
        "measure": "AP",
        **({} if criterion == POOL else {"criterion": criterion}),
        "ties": "expected",
        "conventions": CONVENTIONS,
    }


def beside(
    data: Manifest,
    items: Collection[str],
    encoder: Encoder,
    map: Affine | None,
    correction: HubCorrection | None,
    image_encoder: EncoderLike,
    store: StoreLike,
    seed: int,
) -> list[Beside]:
    """Return BkR and SIM of the encoder as it is and repaired, on some items of the data.

    Where there is no map nothing changes, and nothing is evaluated.
    """
    if map is None:
        return []
    tested = np.array([data.item_ids[own] in items for own in data.item])
    part = data.part(np.unique(data.table_row[tested]))
    found = backretrieval(
        part,
        {BEFORE: encoder, AFTER: MappedTexts(encoder, map, correction)},
        image_encoder=image_encoder,
        examples=False,
        neighbours=False,
        store=store,
        seed=seed,
    )
    rows = []
    for board in compare(found, baseline=BEFORE).boards:
        if board.source is not None or board.column is not None:
            continue
        by_name = {row.encoder: row for row in board.rows}
        after, before = by_name[AFTER], by_name[BEFORE]
        if after.difference is None:
            raise InputError(f"{board.measure} of too few items: {after.note}")
        rows.append(Beside(board.measure, before.value, after.value, after.difference, after.ci))
    return rows


def _check_languages(data: Manifest) -> None:
    """Raise InputError where data have texts in one language only."""
    if len(data.languages) < 2:
        raise InputError(
            f"{data.source} has texts in {data.languages[0]!r} only, and a repair brings languages together: "
            "give texts in two languages at least"
        )


def _check_options(shares: Sequence[float], delta: float, alpha: float) -> None:
    """Raise InputError for options that cannot be."""
    if len(shares) != len(SHARES) or not all(0 < share < math.inf for share in shares):
        raise InputError(
            f"{parameter('shares')}: expected three numbers above 0, to fit on, to choose on and to test on, "
            "such as 0.4,0.2,0.4"
        )
    if not 0 < delta < 1:
        raise InputError(f"{parameter('delta', f'{delta:g}')}: expected more than 0 and less than 1")
    if not 0 < alpha < 0.5:
        raise InputError(f"{parameter('alpha', f'{alpha:g}')}: expected more than 0 and less than 0.5")
