"""The command `repair`: encode, split, search, test once, write the model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar, Unpack

import msgspec
import numpy as np

from xlingual.arrays import Vectors
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.pools.mix import mix_pool
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.reading.columns import DataOptions
from xlingual.data.taking import takes_data
from xlingual.embed import (
    batch_identity,
    embed_pool,
    embed_roles,
    fit_texts_for,
    load_fit_texts,
    refuse_fitted_rows,
)
from xlingual.encoders import Encoder, EncoderLike, ImageModelLike, parse, text_encoders
from xlingual.encoders.plugins import Known
from xlingual.errors import InputError, parameter
from xlingual.evaluation.multilingual_pool.evaluate import NAME, refuse_without_role
from xlingual.evaluation.run import Progress, Storing, collected_warnings
from xlingual.models.card import write_card
from xlingual.models.folder import BANK, TRANSFORM, ModelFolder, write_model
from xlingual.ranking import Cpu, Ranker
from xlingual.records import Texts
from xlingual.repair import CORRECTIONS, Judged, Search, search, steps
from xlingual.requests import answers
from xlingual.requests.repairing import RepairRequest
from xlingual.results import Results
from xlingual.results.repair import UNCHANGED, LeftOut, Repair, TriedRepair
from xlingual.results.unlabelled_repair import UnlabelledRepair
from xlingual.signature import CONVENTIONS, Signature
from xlingual.store import StoreLike, open_store
from xlingual.transforms.affine import Affine
from xlingual.workflows.repairing.beside import beside
from xlingual.workflows.repairing.parts import (
    SHARES,
    PartVectors,
    WholeVectors,
    has_translations,
    sides_of,
    size_of,
    three_parts,
)
from xlingual.workflows.repairing.side_by_side import side_by_side
from xlingual.workflows.repairing.tested import tested

FitTexts: TypeAlias = Callable[[str], Texts]
CRITERION = "mAP"
MODEL = "model"


Record = TypeVar("Record", Repair, UnlabelledRepair)


@dataclass
class Chosen(Generic[Record]):
    """What was found, and the map that was chosen; None where the encoder stays as it is.

    `request` and `run` are those of `found`.
    """

    found: Record
    map: Affine | None
    base: dict[str, Any]  # the encoder, as the folder of a model names it
    source: str  # the data
    bank: Vectors | None = field(default=None, kw_only=True)  # see `Repaired`

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("request", "run"):
            name, value = "found", msgspec.structs.replace(self.found, **{name: value})
        super().__setattr__(name, value)

    def write(self, folder: str | Path) -> None:
        """Write the findings into a folder, and the transform into `model` in it, if there is one."""
        if self.map is not None:
            self.write_model(Path(folder) / MODEL)
        self.found.write(folder)

    def write_model(self, folder: str | Path) -> ModelFolder:
        """Write the folder of the transform, for model:FOLDER::SPEC; raise InputError where there is none."""
        if self.map is None:
            raise InputError("nothing is better than the encoder as it is: there is no transform to write")
        found = self.found
        config = {
            "kind": TRANSFORM,
            "model": {
                "languages": self.map.places,
                "transforms": found.chosen,
                "similarity": found.similarity,
            },
            "base": self.base,
            "data": {"source": self.source, "digest": found.conditions["data"]},
        }
        bank = {} if self.bank is None else {BANK: self.bank}
        return write_card(write_model(folder, config, {**self.map.arrays(), **bank}), found)


@dataclass
class Repaired(Chosen[Repair]):
    """What was found, the map that was chosen, and the part for testing.

    `bank`: the questions that corrections of hubs know hubs by, at unit length.
    """

    test: PartVectors

    def side_by_side(self) -> Results:
        """Return the evaluation of the part for testing, before and after, with all its views.

        Both are compared by cosine. Raises InputError where there is no transform.
        """
        if self.map is None:
            raise InputError("there is no transform, so that nothing changes")
        seed = int(self.found.conditions["parts"].rpartition("#")[2])
        return side_by_side(self.test, self.found.encoder, self.base["identity"], self.map, seed)


@takes_data(leave=MultilingualPool)
@answers(RepairRequest)
def repair(
    data: ManifestLike | MultilingualPool,
    text_encoder: EncoderLike,
    *,
    shares: Sequence[float] = SHARES,
    split_by: str = "paragraph",
    delta: float = 0.01,
    alpha: float = 0.05,
    image_encoder: ImageModelLike | None = None,
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
    mAP on the second is chosen; the third says once what it changes, with paired intervals.

    Args:
        data: a multilingual pool, or a manifest with translations, which is mixed to one (`mix_pool`).
        text_encoder: the encoder, a spec or an object.
        shares: of the three parts: to fit on, to choose on, to test on.
        split_by: "paragraph" (clusters), or "article" where questions have articles.
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
        InputError: data, encoder or options are not what they must be; the text says what to do.

    """
    check_options(shares, delta, alpha)
    ranker = Cpu(threads=threads) if ranker is None else ranker
    clock = Clock(progress)
    with collected_warnings() as messages:
        pool = mix_pool(data, seed=seed) if isinstance(data, Manifest) else data
        parts = three_parts(pool, shares, seed, split_by)
        fit_texts = fit_texts_for(data) if isinstance(data, Manifest) else load_fit_texts
        name, encoder = one_encoder(text_encoder, pool.languages, fit_texts, pool.role_languages)
        judged = [side for part in parts[1:] for side in sides_of(part, candidate_text)]
        storing: Storing = {"store": open_store(store), "progress": progress}
        with clock.stage("texts: encode"):
            refuse_fitted_rows({name: encoder}, *judged, **storing)
            whole = _whole(data, name, encoder, candidate_text, storing)
            identity = batch_identity(encoder, store=storing["store"])
        fit, choose, test = (whole.part(part) for part in parts)
        with clock.stage("search"):
            found = _searched(fit, choose, ranker, clock.of("trying transforms"), hubs=hubs)
        with clock.stage("test", "testing"):
            before, chosen, map = test.found(None, ranker), found.chosen, found.chosen.map
            correction = fit.corrected(map, chosen.similarity)
            same = chosen is found.plain
            after = before if same else test.found(map, ranker, correction)
            changes = tested(before, after, delta=delta, alpha=alpha, seed=seed)
        more = []
        if image_encoder is not None:
            if not isinstance(data, Manifest):
                raise InputError(f"{parameter('image_encoder')}: a pool has no images: leave it out")
            items = set(parts[2].questions.key)
            more = beside(data, items, encoder, map, image_encoder, storing["store"], seed)
    conditions = _conditions(pool, shares, split_by, candidate_text, seed)
    dim = int(fit.questions.shape[1])
    result = Repair(
        encoder=name,
        spec=str(replace(parse(text_encoder, Known()), name=None)) if isinstance(text_encoder, str) else None,
        dim=dim,
        criterion=CRITERION,
        alpha=alpha,
        delta=delta,
        fit=size_of(parts[0]),
        choose=size_of(parts[1]),
        test=size_of(parts[2]),
        tried=[TriedRepair(one.spec, one.similarity, one.judged.value) for one in found.tried],
        left_out=[LeftOut(one.spec, one.why) for one in found.left_out],
        chosen=found.chosen.spec,
        similarity=found.chosen.similarity,
        outcome=UNCHANGED if same else changes.outcome,
        whole=changes.whole,
        p=changes.p,
        languages=changes.languages,
        pairs=changes.pairs,
        monolingual=changes.monolingual,
        bias=changes.bias,
        hubs=changes.hubs,
        harmless=bool(changes.p_harmed <= alpha),
        p_harmed=changes.p_harmed,
        beside=more,
        signature=str(Signature(conditions, {"encoder": identity})),
        conditions=conditions,
        warnings=list(messages),
        timings=clock.seconds,
        model=None if map is None else MODEL,
        n_texts=sum(len(part.questions) + len(part.candidates) for part in parts),
    )
    base = {"name": name, "identity": identity, "dim": dim, "languages": list(pool.languages)}
    bank = None if correction is None else fit.moved(map)[0]
    return Repaired(result, map, base, pool.source, test, bank=bank)


class Clock:
    """Seconds of each stage, and progress."""

    def __init__(self, progress: Progress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._report = progress or (lambda *_: None)

    def of(self, what: str) -> Callable[[int, int], None]:
        """Return the progress of one piece of work."""
        return partial(self._report, what)

    @contextmanager
    def stage(self, name: str, what: str | None = None) -> Iterator[None]:
        """Count the time of the block."""
        began = time.perf_counter()
        if what is not None:
            self._report(what, 0, 1)
        yield
        if what is not None:
            self._report(what, 1, 1)
        self.seconds[name] = time.perf_counter() - began


def one_encoder(
    spec: EncoderLike,
    languages: Sequence[str],
    fit_texts: FitTexts,
    role_languages: Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, Encoder]:
    """Return the name and the encoder; InputError where there are several, or one that cannot be repaired."""
    made = text_encoders(spec, languages=list(languages), role_languages=role_languages, fit_texts=fit_texts)
    if len(made) != 1:
        raise InputError(f"one encoder is repaired at a time, found {', '.join(made)}")
    ((name, encoder),) = made.items()
    if encoder.depends_on_batch:
        raise InputError(
            f"{name!r} gives a text other vectors among other texts, so that what is fitted on some does "
            "not hold for others: give it the texts that it is fitted on (fit=FILE#SPLIT)"
        )
    return name, encoder


def _whole(
    data: Manifest | MultilingualPool, name: str, encoder: Encoder, candidate_text: str, storing: Storing
) -> WholeVectors:
    """Return the vectors of all texts of the data, each encoded once."""
    if isinstance(data, MultilingualPool):
        refuse_without_role({name: encoder})
        found = embed_pool(data, name, encoder, candidate_text, **storing)
        return WholeVectors.of_pool(data, found.questions, found.candidates)
    rows = np.arange(len(data))
    sides = embed_roles(data, name, encoder, rows, rows, **storing)
    return WholeVectors.of_manifest(data, sides.queries.vectors, sides.candidates.vectors)


def _searched(
    fit: PartVectors,
    choose: PartVectors,
    ranker: Ranker,
    progress: Callable[[int, int], None],
    *,
    hubs: bool,
) -> Search:
    """Return all transforms fitted on one part, as another finds them; `hubs`: with corrections of hubs."""
    fitting = fit.fit_data()

    def judge(map: Affine | None, similarity: str) -> Judged:
        values = choose.precision(map, ranker, fit.corrected(map, similarity))
        return Judged(float(values.mean()), values)

    return search(
        fitting,
        judge,
        steps(fit.questions.shape[1], len(fitting.moments), translations=has_translations(fitting)),
        similarities=CORRECTIONS if hubs else (),
        progress=progress,
    )


def _conditions(
    pool: MultilingualPool, shares: Sequence[float], split_by: str, candidate_text: str, seed: int
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
        "ties": "expected",
        "conventions": CONVENTIONS,
    }


def check_options(shares: Sequence[float], delta: float = 0.01, alpha: float = 0.05) -> None:
    """Raise InputError for options that cannot be."""
    if len(shares) != len(SHARES) or not all(share > 0 for share in shares):
        raise InputError(
            f"{parameter('shares')}: expected three numbers above 0, to fit on, to choose on and to test on, "
            "such as 0.4,0.2,0.4"
        )
    if not 0 < delta < 1:
        raise InputError(f"{parameter('delta', f'{delta:g}')}: expected more than 0 and less than 1")
    if not 0 < alpha < 0.5:
        raise InputError(f"{parameter('alpha', f'{alpha:g}')}: expected more than 0 and less than 0.5")
