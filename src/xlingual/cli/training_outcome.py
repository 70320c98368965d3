"""The page of a finished training."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.report import numbers
from xlingual.report.blocks import Block, Page, Prose
from xlingual.report.table import Cell, Table

if TYPE_CHECKING:
    from xlingual.workflows.train_dual_encoder import TrainedDual
    from xlingual.workflows.trained import TrainedModel


def how_to_go_on(out: Path) -> str | None:
    """Return how a training goes on that is interrupted after its first epoch; None before."""
    if not (out / "checkpoint" / "last.safetensors").is_file():
        return None
    return f"{out} keeps the training up to its last epoch: go on with --resume"


def trained_page(trained: TrainedModel, lines: Sequence[str]) -> Page:
    """Return the epoch that is kept with its sums of recalls, and how the model is used."""
    texts = ", ".join(f"{tag} {count:,}" for tag, count in trained.texts.items())
    images = "" if trained.images is None else f" and {trained.images:,} images"
    validated_on = " and ".join(
        f"{count:,} {'images' if what == 'pictures' else what}"
        for what, count in trained.validated_on.items()
    )
    sum_of = f"mean of {trained.mean_of} sums of recalls" if trained.mean_of > 1 else "sum of recalls"
    sentence = (
        f"Trained on {texts} texts{images} in {numbers.duration(trained.seconds)}: {_best(trained)}, with "
        f"a {sum_of} of {trained.score:.1f} of 600 on the validation ({validated_on}), where chance gives "
        f"{trained.chance.value:.1f}."
    )
    rows = [(name, value, trained.chance.parts[name]) for name, value in trained.scores.items()]
    return _page(_title(trained), sentence, ("validation", "sum of recalls", "chance"), rows, 1, lines)


def dual_page(trained: TrainedDual, lines: Sequence[str]) -> Page:
    """Return the epoch that is kept with its mAP, and how the model is used."""
    n_held_out, config = trained.held_out, trained.folder.config
    chosen = ""
    if n_held_out:
        chosen = (
            f": {_best(trained)}; mAP on {numbers.counted(n_held_out, 'held-out question')}: "
            f"{trained.scores['pool']:.3f} in the pool of all languages, "
            f"{trained.scores['own-language']:.3f} in the question's own"
        )
    languages = numbers.counted(len(config["data"]["languages"]), "language")
    sentence = (
        f"Trained on {trained.questions:,} questions in {languages} ({config['training']['regime']}) in "
        f"{numbers.duration(trained.seconds)}{chosen}."
    )
    return _page(
        _title(trained), sentence, ("validation", "mAP"), list((trained.scores or {}).items()), 3, lines
    )


def _title(trained: TrainedModel | TrainedDual) -> str:
    return "Best epoch" if trained.kept_epoch == trained.best_epoch else "Last epoch"


def _best(trained: TrainedModel | TrainedDual) -> str:
    if trained.kept_epoch != trained.best_epoch:
        of = f"{trained.kept_epoch} of {trained.epochs}"
        return f"epoch {of} is kept as the last one (the best on the validation was {trained.best_epoch})"
    why = "all were run" if trained.stopped == "epochs" else "no later one was better"
    return f"epoch {trained.best_epoch} of {trained.epochs} is the best ({why})"


def _page(
    title: str,
    sentence: str,
    heads: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    digits: int,
    lines: Sequence[str],
) -> Page:
    """Return a page; how the model is used is to be copied, so it is left in whole lines."""
    cells = [(name, *(Cell.of(value, digits=digits) for value in row)) for name, *row in rows]
    blocks: list[Block] = [Table.of_texts(title, heads, cells, where="both")] if cells else []
    begins = (" use: ", *["      "] * len(lines))
    blocks += [
        Prose(begin + line, whole=True, where="both") for begin, line in zip(begins, lines, strict=False)
    ]
    return Page.of("training", "Training", blocks, [sentence])


def uses(option: str, model: str, base: str | None, what: str) -> list[str]:
    """Return the option that names a trained model as an encoder, on top of `base` where it has one.

    A file of vectors serves the data of one manifest only: the line for other `what` is returned too.
    """
    if base is None:
        return [f"{option} {shlex.quote(model)}"]
    own = f"{option} {shlex.quote(f'{model}::{base}')}"
    if not _is_file(base):
        return [own]
    other = shlex.quote(f"{model}?base=trusted::vectors:OTHER")
    return [own, f"{option} {other}  (for other {what})"]


def _is_file(spec: str) -> bool:
    """Return whether an encoder is a file of vectors, which serves the images of one manifest only."""
    from xlingual.encoders.spec import parse

    return parse(spec).scheme == "vectors"
