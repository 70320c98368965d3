"""What a training tells when it is over."""

from __future__ import annotations

import shlex
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.report.numbers import duration

if TYPE_CHECKING:
    from xlingual.workflows.train_dual_encoder import TrainedDual
    from xlingual.workflows.trained import Trained

_WIDEST, _LEAST = 100, 40  # columns


@contextmanager
def told_how_to_go_on(out: Path) -> Iterator[None]:
    """Say, where a training is interrupted after its first epoch, how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        if (out / "checkpoint" / "state.json").is_file():
            screen.say(f"{out} keeps the training up to its last epoch: go on with --resume", err=True)
        raise


def show(trained: Trained, lines: Sequence[str]) -> None:
    """Tell what came out: the best epoch, its sums of recalls, and how the model is used."""
    why = "all were run" if trained.stopped == "epochs" else "no later one was better"
    texts = ", ".join(f"{tag} {count:,}" for tag, count in trained.texts.items())
    pictures = "" if trained.pictures is None else f" and {trained.pictures:,} pictures"
    held = " and ".join(f"{count:,} {what}" for what, count in trained.validated_on.items())
    several = trained.mean_of > 1
    sum_of = f"mean of {trained.mean_of} sums of recalls" if several else "sum of recalls"
    show_wrapped(
        f"Trained on {texts} texts{pictures} in {duration(trained.seconds)}: epoch {trained.best_epoch} of "
        f"{trained.epochs} is the best ({why}), with a {sum_of} of {trained.score:.1f} of 600 on the "
        f"validation ({held}), where chance gives {trained.chance.value:.1f}."
    )
    column = max(map(len, trained.scores), default=0)
    for name, value in trained.scores.items():
        screen.say(f"  {name:<{column}}  {value:6.1f}  (chance {trained.chance.parts[name]:.1f})")
    show_uses(lines)


def show_dual(trained: TrainedDual, base: str) -> None:
    """Tell what came out: the best epoch, its mAP, and how the model is used."""
    held, config = trained.held_out, trained.folder.config
    count = len(config["data"]["languages"])
    chosen = ""
    if held:
        why = "all were run" if trained.stopped == "epochs" else "no later one was better"
        chosen = (
            f": epoch {trained.best_epoch} of {trained.epochs} is the best ({why}); mAP on {held:,} held-out "
            f"{'question' if held == 1 else 'questions'}: {trained.scores['pool']:.3f} in the pool of all "
            f"languages, {trained.scores['own-language']:.3f} in the question's own"
        )
    show_wrapped(
        f"Trained on {trained.questions:,} questions in {count} {'language' if count == 1 else 'languages'} "
        f"({config['training']['regime']}) in {duration(trained.seconds)}{chosen}."
    )
    below = None if config["base"] is None else base
    show_uses(uses("--text-encoder", f"model:{trained.folder.path}", below, "texts"))


def show_uses(lines: Sequence[str]) -> None:
    """Tell how a model is used; what is to be copied is left in one line."""
    for number, line in enumerate(lines):
        screen.say(f"  {'use:' if number == 0 else '    '} {line}")


def show_wrapped(text: str) -> None:
    """Print a sentence in lines that fit the terminal."""
    width = max(_LEAST, min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST))
    for line in textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False):
        screen.say(line)


def uses(option: str, model: str, base: str | None, what: str) -> list[str]:
    """Return how an encoder is named that is a trained model, on top of `base` where it has one.

    A file of vectors serves the data of one manifest only: how it is done for other `what` is told too.
    """
    if base is None:
        return [f"{option} {shlex.quote(model)}"]
    own = f"{option} {shlex.quote(f'{model}::{base}')}"
    if not _is_file(base):
        return [own]
    other = shlex.quote(f"{model}?base=trusted::vectors:OTHER")
    return [own, f"{option} {other}  (for other {what})"]


def _is_file(spec: str) -> bool:
    """Return whether an encoder is a file of vectors, which serves the pictures of one manifest only."""
    from xlingual.encoders.plugins import Known
    from xlingual.encoders.spec import parse

    return parse(spec, Known()).scheme == "vectors"
