"""`train pivot`: pairs by images, a map chosen without labels, tested on items held apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import msgspec
import numpy as np

from xlingual import encoders
from xlingual.align.choose import MARGIN
from xlingual.align.fit import Options
from xlingual.align.pairs import alike
from xlingual.arrays import Ints
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.embed.sides import batch_identity, embed_images, fit_texts_for, refuse_fitted_rows
from xlingual.encoders import EncoderLike, parse
from xlingual.errors import InputError, parameter
from xlingual.evaluation.run import Progress, Storing, collected_warnings
from xlingual.files import refuse_loss
from xlingual.models.card import write_card
from xlingual.models.folder import CONFIG, FITTED_ON, TRANSFORM, ModelFolder, write_model
from xlingual.ranking import Cpu, Ranker
from xlingual.requests import answers
from xlingual.requests.pivoting import PivotRequest
from xlingual.results.pivot import Pivot, PivotTried
from xlingual.results.repair import UNCHANGED
from xlingual.signature import CONVENTIONS, Signature
from xlingual.store import StoreLike, open_store
from xlingual.transforms.affine import Affine
from xlingual.workflows.clock import Clock
from xlingual.workflows.one_encoder import one_encoder
from xlingual.workflows.pivoting.data import Embedded, parts_of, rows_to_use
from xlingual.workflows.pivoting.search import CHOSEN, best_of, check, language_to, settings_of
from xlingual.workflows.pivoting.tested import (
    HeldOut,
    kept_within,
    outcome_of,
    refuse_as_judge,
)

ALPHA = 0.05
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
                "transforms": f"image pivot, {self.found.chosen}",
                "similarity": "cosine",
            },
            "base": self.base,
            "data": {**self.data, "outcome": self.found.outcome},
        }
        digests = np.array([list(each) for each in sorted(self.seen)], dtype=np.uint8).reshape(-1, 16)
        arrays = self.map.arrays() | {FITTED_ON: digests}
        return write_card(write_model(folder, config, arrays))


@takes_data()
@answers(PivotRequest)
def train_pivot(
    data: ManifestLike,
    text_encoder: EncoderLike,
    image_encoder: EncoderLike,
    *,
    languages: Sequence[str] | None = None,
    pairs_from: str = "both",
    map: str = CHOSEN,
    penalty: float | None = None,
    rounds: int = 5,
    to: str | None = None,
    jointly: bool = True,
    held_out: float = 0.3,
    judge: EncoderLike | None = None,
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
        InputError: data, encoders or options are invalid; the text says what to do.

    """
    assert isinstance(data, Manifest)
    tried = settings_of(map, penalty, rounds)
    if not 0 <= held_out < 1:
        raise InputError(f"{parameter('held_out', f'{held_out:g}')}: expected a share from 0 to below 1")
    ranker = Cpu(threads=threads) if ranker is None else ranker
    clock = Clock(progress)
    with collected_warnings() as messages:
        storing: Storing = {"store": open_store(store), "progress": progress}
        tags = list(data.languages)
        image_name, images = encoders.image_encoder(image_encoder, languages=tags)
        judge_name, judged_by = (
            (None, None) if judge is None else encoders.image_encoder(judge, languages=tags)
        )
        if judged_by is not None:
            refuse_as_judge(judged_by, images)
        rows = rows_to_use(data, languages, images, skip_broken)
        with clock.stage("images: encode"):
            index = embed_images(data, image_name, images, rows, shown=False, **storing)
        parts = parts_of(data, rows, held_out, seed, most, index)
        tags = [tag for code, tag in enumerate(data.languages) if (data.language[rows] == code).any()]
        name, encoder = one_encoder(text_encoder, tags, fit_texts_for(data))
        with clock.stage("encode"):
            refuse_fitted_rows({name: encoder}, data.texts(parts.held_out), **storing)
            embedded = Embedded.of(data, (name, encoder), (image_name, images), parts, storing, index)
            identity, seen_by = (batch_identity(one) for one in (encoder, images))
        nodes = embedded.nodes(parts.fit)
        options = Options(
            to=language_to(to, nodes),
            jointly=jointly,
            near=pairs_from != "same",
            same=pairs_from != "near",
            seed=seed,
        )
        with clock.stage("search", "searching near images"):
            candidates = alike(nodes, ranker=ranker)
            check(data.source, nodes, candidates, options, image_name)
        with clock.stage("fit"):
            best = best_of(
                *(nodes, candidates, options, tried),
                choice=map == CHOSEN,
                progress=clock.of("trying maps"),
                ranker=ranker,
            )
        with clock.stage("test", "testing"):
            test = HeldOut(embedded, parts.held_out, judged_by, tags, seed, storing["store"])
            changes = test.changes(best.fitted.map)
            kept = [] if best.unchanged else kept_within(embedded, parts.held_out, best.fitted.map)
    conditions = _conditions(data, rows, seen_by, options, pairs_from, held_out, most)
    outcome = UNCHANGED if best.unchanged else outcome_of(changes)
    result = Pivot(
        encoder=name,
        spec=str(replace(parse(text_encoder), name=None)) if isinstance(text_encoder, str) else None,
        image_encoder=image_name,
        dim=nodes.dim,
        languages={tag: int((data.language[parts.fit] == data.languages.index(tag)).sum()) for tag in tags},
        items=len(np.unique(data.item[parts.fit])),
        to=data.languages[options.to],
        pairs_from=pairs_from,
        pairs=best.pairs(nodes),
        chosen=best.settings.name,
        given=map != CHOSEN,
        alpha=ALPHA,
        outcome=outcome,
        tried=[
            PivotTried(
                *(one.settings.name, one.fall, one.standard_error, one.pairs),
                *(one.image_fall, one.image_error, one.related),
            )
            for one in best.tried
        ],
        changes=changes,
        kept=kept,
        tested_items=test.items if changes else 0,
        judge=judge_name,
        signature=str(Signature(conditions, {"encoder": identity})),
        conditions=conditions,
        warnings=list(messages),
        timings=clock.seconds,
        n_texts=len(embedded.rows),
        near_duplicates=parts.near_duplicates,
    )
    base = {"name": name, "identity": identity, "dim": nodes.dim, "languages": tags}
    about = {
        "source": data.path.name if data.path is not None else data.source,
        "digest": conditions["data"],
        "items": result.items,
        "texts": result.languages,
        "images": seen_by,
    }
    seen = data.texts(parts.fit).row_digests()
    return Pivoted(result, best.fitted.map, base, about, frozenset(seen))


def refuse_replacing(folder: str | Path, *, replace: bool) -> None:
    """Raise InputError where a folder holds a model or findings that would be lost."""
    present = [Path(folder) / name for name in (CONFIG, Pivot.file)]
    if not replace:
        refuse_loss(folder, [path for path in present if path.exists()], f"replace it ({parameter('force')})")


def _conditions(
    data: Manifest,
    rows: Ints,
    images: str,
    options: Options,
    pairs_from: str,
    held_out: float,
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
        "held-out": f"{held_out:g}#{options.seed}",
        "most": str(most),
        "margin": f"{MARGIN:g}",
        "conventions": CONVENTIONS,
    }
