"""`train pivot`: pairs by images, a map chosen without labels, tested on items held apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import msgspec
import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.data.reading.columns import DataOptions
from xlingual.data.taking import takes_data
from xlingual.embed import batch_identity, fit_texts_for, refuse_fitted_rows
from xlingual.encoders import Encoder, EncoderLike, ImageModelLike, parse
from xlingual.encoders.plugins import Known
from xlingual.errors import InputError, did_you_mean, parameter
from xlingual.evaluation.run import Progress, Storing, collected_warnings
from xlingual.files import refuse_loss
from xlingual.models.card import write_card
from xlingual.models.card_words import PIVOT
from xlingual.models.folder import CONFIG, FITTED_ON, TRANSFORM, ModelFolder, write_model
from xlingual.pivot.choose import CANDIDATES, MARGIN, choose
from xlingual.pivot.fit import CENTRE, NONE, Fitted, Options, Settings, fit
from xlingual.pivot.nodes import Nodes
from xlingual.pivot.oracle import oracle
from xlingual.pivot.pairs import Alike, alike, near_pairs, same_pairs
from xlingual.ranking import Cpu, Ranker
from xlingual.requests import answers
from xlingual.requests.pivoting import PivotRequest
from xlingual.results.pivot import UNCHANGED, UNTESTED, Pivot, PivotPairs, PivotTried
from xlingual.signature import CONVENTIONS, Signature
from xlingual.store import StoreLike, open_store
from xlingual.transforms.affine import Affine
from xlingual.workflows.pivoting.data import Embedded, parts_of, rows_to_use
from xlingual.workflows.pivoting.tested import (
    HeldOut,
    kept_within,
    outcome_of,
    refuse_as_judge,
    warn_of_untested,
)
from xlingual.workflows.repairing.chosen import Clock, one_encoder

FEWEST_PAIRS = 20
ALPHA = 0.05
CHOSEN = "chosen"
NAME = "pivot"


@dataclass
class Pivoted:
    """What was found, and the map; the identity where the encoder stays as it is."""

    found: Pivot
    map: Affine
    base: dict[str, Any]  # the encoder, as the folder of a model names it
    data: dict[str, Any]  # what it was fitted on
    seen: frozenset[bytes]  # digests of the rows it was fitted on

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("request", "run"):
            name, value = "found", msgspec.structs.replace(self.found, **{name: value})
        super().__setattr__(name, value)

    def write(self, folder: str | Path) -> ModelFolder:
        """Write the model, for model:FOLDER::SPEC, and the findings beside it."""
        self.found.write(folder)
        config = {
            "kind": TRANSFORM,
            "model": {
                "languages": self.map.places,
                "transforms": f"{PIVOT}, {self.found.chosen}",
                "similarity": "cosine",
            },
            "base": self.base,
            "data": self.data,
        }
        digests = np.array([list(each) for each in sorted(self.seen)], dtype=np.uint8).reshape(-1, 16)
        arrays = self.map.arrays() | {FITTED_ON: digests}
        return write_card(write_model(folder, config, arrays), self.found)


@takes_data()
@answers(PivotRequest)
def train_pivot(
    data: ManifestLike,
    text_encoder: EncoderLike,
    image_encoder: ImageModelLike,
    *,
    languages: Sequence[str] | None = None,
    pairs_from: str = "both",
    map: str = CHOSEN,
    penalty: float | None = None,
    rounds: int = 5,
    to: str | None = None,
    jointly: bool = True,
    held_out: float = 0.3,
    judge: ImageModelLike | None = None,
    most: int = 20_000,
    seed: int = 0,
    skip_broken: bool = False,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    **columns: Unpack[DataOptions],
) -> Pivoted:
    """Find a map of an encoder's vectors that brings languages together, by images alone, and test it.

    Texts of different items whose images are each other's nearest are pairs; a map for each language is
    fitted on them, and the mapped texts help to find the next pairs. The kind of map, and whether there is
    one, is chosen by the ranks of image pairs of items that it was not fitted on (`pivot.choose`). No
    translation is used, but where items have texts in two languages and `pairs_from` allows it.

    Args:
        data: a manifest whose texts are in two languages or more, with images.
        text_encoder: the encoder, a spec or an object.
        image_encoder: of the images.
        languages: only these; None: all.
        pairs_from: "near" (different items), "same" (texts of one item or image), or "both".
        map: "chosen", or the kind: "none", "centre", "ridge", "procrustes", "cca".
        penalty: of that kind; None: chosen.
        rounds: how often pairs are found.
        to: the language that the others come to; None: the one with the most texts.
        jointly: languages come to each other too.
        held_out: share of the items that are held out, to test on.
        judge: another image encoder, for Backretrieval of the items held out.
        most: items of a language that are fitted on, at most.
        seed: of the parts, folds and samples.
        skip_broken: leave out texts whose image is missing or broken.
        threads: threads side by side; they change no number.
        ranker: what ranks images; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again, as in the evaluations.

    Raises:
        InputError: data, encoders or options are not what they must be; the text says what to do.

    """
    assert isinstance(data, Manifest)
    tried = _tried(map, penalty, rounds)
    if not 0 <= held_out < 1:
        raise InputError(f"{parameter('held_out', f'{held_out:g}')}: expected a share from 0 to below 1")
    ranker = Cpu(threads=threads) if ranker is None else ranker
    clock = Clock(progress)
    with collected_warnings() as messages:
        storing: Storing = {"store": open_store(store), "progress": progress}
        image_name, images = image_encoder_of(image_encoder, data)
        judged_by = None if judge is None else image_encoder_of(judge, data)
        if judged_by is not None:
            refuse_as_judge(judged_by[1], images)
        rows = rows_to_use(data, languages, images, skip_broken)
        parts = parts_of(data, rows, held_out, seed, most)
        tags = [tag for code, tag in enumerate(data.languages) if (data.language[rows] == code).any()]
        name, encoder = one_encoder(text_encoder, tags, fit_texts_for(data))
        with clock.stage("encode"):
            refuse_fitted_rows({name: encoder}, data.texts(parts.held_out), **storing)
            embedded = Embedded.of(data, (name, encoder), (image_name, images), parts, storing)
            identity, seen_by = (batch_identity(one, store=storing["store"]) for one in (encoder, images))
        nodes = embedded.nodes(parts.fit)
        options = Options(
            to=_to(to, nodes, data, rows),
            jointly=jointly,
            near=pairs_from != "same",
            same=pairs_from != "near",
            seed=seed,
        )
        with clock.stage("search", "searching near images"):
            candidates = alike(nodes, ranker=ranker)
            _check(data, nodes, candidates, options, image_name)
        with clock.stage("choose"):
            found = choose(nodes, candidates, options, tried, clock.of("trying maps"))
            given = map != CHOSEN
            best = next(one for one in found if not given or one.settings in tried).settings
        with clock.stage("fit", "fitting"):
            fitted = fit(nodes, candidates, best, options)
        rounded = fitted.map.rounded()
        changes, kept, tested = [], [], 0
        part = data.part(np.unique(data.table_row[parts.held_out])) if len(parts.held_out) else None
        if best.kind != NONE and part is not None:
            with clock.stage("test", "testing"):
                tested = len(np.unique(data.item[parts.held_out]))
                held = HeldOut(part, embedded, rounded, seed, storing["store"])
                changes = held.changes(None if judged_by is None else judged_by[1], tags)
                kept = kept_within(embedded, parts.held_out, rounded)
        if best.kind != NONE and not changes:
            warn_of_untested(data, tested)
    conditions = _conditions(data, rows, seen_by, options, pairs_from, held_out, seed, most)
    outcome = UNCHANGED if best.kind == NONE else outcome_of(changes) if changes else UNTESTED
    dim = nodes.dim
    result = Pivot(
        encoder=name,
        spec=str(replace(parse(text_encoder, Known()), name=None)) if isinstance(text_encoder, str) else None,
        image_encoder=image_name,
        dim=dim,
        languages={tag: int((data.language[parts.fit] == data.languages.index(tag)).sum()) for tag in tags},
        items=len(np.unique(data.item[parts.fit])),
        to=data.languages[options.to],
        pairs_from=pairs_from,
        pairs=_pairs(nodes, fitted, options),
        chosen=best.name,
        given=given,
        alpha=ALPHA,
        outcome=outcome,
        tried=[PivotTried(one.settings.name, one.fall, one.standard_error, one.pairs) for one in found],
        changes=changes,
        kept=kept,
        tested_items=tested,
        judge=None if judged_by is None else judged_by[0],
        signature=str(Signature(conditions, {"encoder": identity})),
        conditions=conditions,
        warnings=list(messages),
        timings=clock.seconds,
        n_texts=len(embedded.rows),
    )
    base = {"name": name, "identity": identity, "dim": dim, "languages": tags}
    about = {
        "source": data.path.name if data.path is not None else data.source,
        "digest": conditions["data"],
        "items": result.items,
        "texts": result.languages,
        "images": seen_by,
    }
    seen = data.texts(parts.fit).row_digests()
    return Pivoted(result, rounded, base, about, frozenset(seen))


def refuse_replacing(folder: str | Path, *, replace: bool) -> None:
    """Raise InputError where a folder holds a model or findings that would be lost."""
    present = [Path(folder) / name for name in (CONFIG, Pivot.file)]
    if not replace:
        refuse_loss(folder, [path for path in present if path.exists()], f"replace it ({parameter('force')})")


def _tried(map: str, penalty: float | None, rounds: int) -> list[Settings]:
    """Return the settings to try."""
    kinds = [CHOSEN, *dict.fromkeys(one.kind for one in CANDIDATES)]
    if map not in kinds:
        raise InputError(
            f"{parameter('map', map)}: expected one of {', '.join(kinds)}.{did_you_mean(map, kinds)}"
        )
    if penalty is not None and map in (CHOSEN, NONE, CENTRE):
        raise InputError(
            f"{parameter('penalty')} is of ridge, procrustes or cca: name the kind ({parameter('map')})"
        )
    wanted = [one for one in CANDIDATES if map in (CHOSEN, one.kind)]
    if penalty is not None:
        wanted = [Settings(map, penalty)]
    return [replace(one, rounds=rounds) for one in wanted]


def image_encoder_of(spec: ImageModelLike, data: Manifest) -> tuple[str, Encoder]:
    """Return the name and the encoder of images; InputError for what compares images without vectors."""
    name, found = encoders.image_model(spec, languages=list(data.languages))
    if not isinstance(found, Encoder):
        raise InputError(
            f"{name!r} compares images and gives no vectors, and near images are searched by vectors: name "
            "another image encoder"
        )
    return name, found


def _to(to: str | None, nodes: Nodes, data: Manifest, rows: Ints) -> int:
    """Return the language that is only centred."""
    if to is None:
        return int(np.bincount(nodes.language).argmax())
    if to not in data.languages or not (nodes.language == data.languages.index(to)).any():
        raise InputError(
            f"{parameter('to', to)}: the texts that it is fitted on are in "
            f"{', '.join(data.languages[code] for code in np.unique(nodes.language))}"
        )
    return data.languages.index(to)


def _check(data: Manifest, nodes: Nodes, candidates: Alike, options: Options, image_name: str) -> None:
    """Raise InputError where images say nothing, or the pairs are too few to carry a map."""
    if options.near:
        seen = oracle(nodes, candidates, options.seed)
        if seen.value - seen.chance < 3 * seen.standard_error:
            raise InputError(
                f"image encoder {image_name!r} cannot tell these images apart: from the nearest image of "
                f"another item only {seen.value:.0%} find the way back among the first 10 (by chance "
                f"{seen.chance:.0%}): name another image encoder"
            )
    near = len(near_pairs(nodes, candidates)) if options.near else 0
    same = len(same_pairs(nodes)) if options.same else 0
    if near + same < FEWEST_PAIRS:
        kinds = "" if options.near else " of one item or image; other items are left out by pairs-from same"
        raise InputError(
            f"{data.source}: {near + same} pairs were found{kinds}, at least {FEWEST_PAIRS} are needed to "
            "fit and choose a map: give more items with images, in all languages"
        )


def _pairs(nodes: Nodes, fitted: Fitted, options: Options) -> list[PivotPairs]:
    """Return how many pairs each two languages have, those without any too."""
    many = len(nodes.languages)
    codes = np.unique(nodes.language).tolist()

    def counted(left: Ints, right: Ints) -> Ints:
        return np.bincount(nodes.language[left] * many + nodes.language[right], minlength=many * many)

    near = counted(fitted.near.left, fitted.near.right)
    same = counted(*_sides(nodes)) if options.same else np.zeros(many * many, dtype=np.int64)
    return [
        PivotPairs(nodes.languages[a], nodes.languages[b], int(near[a * many + b]), int(same[a * many + b]))
        for place, a in enumerate(codes)
        for b in codes[place + 1 :]
    ]


def _sides(nodes: Nodes) -> tuple[Ints, Ints]:
    same = same_pairs(nodes)
    return same.left, same.right


def _conditions(
    data: Manifest,
    rows: Ints,
    images: str,
    options: Options,
    pairs_from: str,
    held_out: float,
    seed: int,
    most: int,
) -> dict[str, str]:
    """Return what the numbers depend on, beside the encoder."""
    return {
        "task": NAME,
        "languages": ",".join(data.languages[code] for code in np.unique(data.language[rows])),
        "data": data.digest[:12],
        "image-encoder": images,
        "pairs": pairs_from,
        "to": data.languages[options.to] + ("" if options.jointly else " alone"),
        "held-out": f"{held_out:g}#{seed}",
        "most": str(most),
        "margin": f"{MARGIN:g}",
        "conventions": CONVENTIONS,
    }
