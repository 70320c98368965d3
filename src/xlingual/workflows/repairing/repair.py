"""The command `repair`: encode, split, search, test once, write the model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import msgspec

from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.pools.mix import mix_pool
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.reading.columns import DataOptions
from xlingual.data.taking import takes_data
from xlingual.embed import batch_identity, embed_pool, load_fit_texts, refuse_fitted_rows
from xlingual.encoders import EncoderLike, parse, text_encoders
from xlingual.encoders.plugins import Known
from xlingual.errors import InputError, parameter
from xlingual.evaluation.multilingual_pool.evaluate import NAME, refuse_without_role
from xlingual.evaluation.run import Progress, collected_warnings
from xlingual.models.folder import TRANSFORM, ModelFolder, write_model
from xlingual.ranking import Cpu, Ranker
from xlingual.repair import Judged, Search, search
from xlingual.repair.search import PLAIN
from xlingual.requests import answers
from xlingual.requests.repairing import RepairRequest
from xlingual.results.repair import UNCHANGED, LeftOut, Repair, TriedRepair
from xlingual.signature import CONVENTIONS, Signature
from xlingual.store import Store, StoreLike, open_store
from xlingual.transforms.affine import Affine
from xlingual.workflows.repairing.parts import (
    SHARES,
    PartVectors,
    has_translations,
    size_of,
    three_parts,
)
from xlingual.workflows.repairing.tested import tested

CRITERION = "mAP"
MODEL = "model"


@dataclass
class Repaired:
    """What was found, and the map that was chosen; None where the encoder stays as it is.

    `request` and `run` are those of `found`.
    """

    found: Repair
    map: Affine | None
    base: dict[str, Any]  # the encoder, as the folder of a model names it
    source: str  # the data

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("request", "run"):
            name, value = "found", msgspec.structs.replace(self.found, **{name: value})
        super().__setattr__(name, value)

    def write(self, folder: str | Path) -> None:
        """Write `repair.json` into a folder, and the transform into `model` in it, if there is one."""
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
            "model": {"languages": self.map.places, "transforms": found.chosen},
            "base": self.base,
            "data": {"source": self.source, "digest": found.conditions["data"]},
        }
        return write_model(folder, config, self.map.arrays())


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
        candidate_text: "sentence" or "sentence+context".
        seed: of the parts, and of the tests.
        threads: threads side by side; they change no number.
        ranker: what ranks; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again, as in the evaluations.

    Raises:
        InputError: data, encoder or options are not what they must be; the text says what to do.

    """
    _check(shares, delta, alpha)
    ranker = Cpu(threads=threads) if ranker is None else ranker
    clock = _Clock(progress)
    with collected_warnings() as messages:
        pool = mix_pool(data, seed=seed) if isinstance(data, Manifest) else data
        parts = three_parts(pool, shares, seed, split_by)
        with clock.stage("texts: encode"):
            encoded = _Encoded.of(pool, parts, text_encoder, candidate_text, open_store(store), progress)
        with clock.stage("search"):
            found = _searched(encoded.parts, ranker, clock.of("trying transforms"))
        with clock.stage("test", "testing"):
            before = encoded.parts[2].found(None, ranker)
            map = found.chosen.map
            after = before if map is None else encoded.parts[2].found(map, ranker)
            changes = tested(before, after, delta=delta, alpha=alpha, seed=seed)
    conditions = _conditions(pool, shares, split_by, candidate_text, seed)
    dim = int(encoded.parts[0].questions.shape[1])
    result = Repair(
        encoder=encoded.name,
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
        outcome=UNCHANGED if found.chosen.spec == PLAIN else changes.outcome,
        whole=changes.whole,
        p=changes.p,
        languages=changes.languages,
        pairs=changes.pairs,
        monolingual=changes.monolingual,
        bias=changes.bias,
        hubs=changes.hubs,
        harmless=bool(changes.p_harmed <= alpha),
        p_harmed=changes.p_harmed,
        signature=str(Signature(conditions, {"encoder": encoded.identity})),
        conditions=conditions,
        warnings=list(messages),
        timings=clock.seconds,
        model=None if found.chosen.map is None else MODEL,
        n_texts=sum(len(part.questions) + len(part.candidates) for part in parts),
    )
    base = {"name": encoded.name, "identity": encoded.identity, "dim": dim, "languages": list(pool.languages)}
    return Repaired(result, found.chosen.map, base, pool.source)


class _Clock:
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


@dataclass(frozen=True)
class _Encoded:
    """The encoder, and its vectors of the three parts."""

    name: str
    identity: str
    parts: tuple[PartVectors, PartVectors, PartVectors]

    @classmethod
    def of(
        cls,
        pool: MultilingualPool,
        parts: Sequence[MultilingualPool],
        spec: EncoderLike,
        candidate_text: str,
        store: Store | None,
        progress: Progress | None,
    ) -> _Encoded:
        """Encode each text once; InputError where the encoder was fitted on texts to choose or test on."""
        made = text_encoders(
            spec,
            languages=list(pool.languages),
            role_languages=pool.role_languages,
            fit_texts=load_fit_texts,
        )
        refuse_without_role(made)
        if len(made) != 1:
            raise InputError(f"one encoder is repaired at a time, found {', '.join(made)}")
        ((name, encoder),) = made.items()
        texts = [(part.question_texts(), part.candidate_texts(candidate_text)) for part in parts]
        judged = [side for both in texts[1:] for side in both]
        refuse_fitted_rows(made, *judged, store=store, progress=progress)
        if encoder.depends_on_batch:
            raise InputError(
                f"{name!r} gives a text other vectors among other texts, so that what is fitted on some does "
                "not hold for others: give it the texts that it is fitted on (fit=FILE#SPLIT)"
            )
        found = []
        for part in parts:
            own = embed_pool(part, name, encoder, candidate_text, store=store, progress=progress)
            found.append(PartVectors.of(part, own.questions, own.candidates))
        identity = batch_identity(encoder, *(side for both in texts for side in both), store=store)
        return cls(name, identity, (found[0], found[1], found[2]))


def _searched(
    parts: tuple[PartVectors, PartVectors, PartVectors],
    ranker: Ranker,
    progress: Callable[[int, int], None],
) -> Search:
    """Return all transforms fitted on the first part, as the second finds them."""
    fitting = parts[0].fit_data()

    def judge(map: Affine | None, similarity: str) -> Judged:
        values = parts[1].precision(map, ranker)
        return Judged(float(values.mean()), values)

    return search(fitting, judge, translations=has_translations(fitting), progress=progress)


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


def _check(shares: Sequence[float], delta: float, alpha: float) -> None:
    if len(shares) != len(SHARES) or not all(share > 0 for share in shares):
        raise InputError(
            f"{parameter('shares')}: expected three numbers above 0, to fit on, to choose on and to test on, "
            "such as 0.4,0.2,0.4"
        )
    if not 0 < delta < 1:
        raise InputError(f"{parameter('delta', f'{delta:g}')}: expected more than 0 and less than 1")
    if not 0 < alpha < 0.5:
        raise InputError(f"{parameter('alpha', f'{alpha:g}')}: expected more than 0 and less than 0.5")
