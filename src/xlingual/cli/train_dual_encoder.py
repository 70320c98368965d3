"""`xlingual train dual-encoder`: questions and answers of several languages in one space."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.options import check_folder, chosen_store, encoding_options
from xlingual.cli.pools import listed_languages
from xlingual.cli.training_options import FIT, RUN, added, number, told, whole, word
from xlingual.cli.training_outcome import show_uses, show_wrapped, told_how_to_go_on, uses
from xlingual.errors import InputError
from xlingual.report.numbers import duration

if TYPE_CHECKING:
    from xlingual.workflows.train_dual_encoder import TrainedDual


class Lengths(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click only
    """Two whole numbers "3-5", or the word "none"."""

    name = "A-B|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return the two numbers, or "none"."""
        if value == "none" or isinstance(value, tuple):
            return value
        low, _, high = str(value).partition("-")
        if not (low.isdecimal() and high.isdecimal() and 1 <= int(low) <= int(high)):
            self.fail(f"{value!r} is neither a range such as 3-5 nor 'none'", param, ctx)
        return int(low), int(high)


_DUAL = (
    click.option("--languages", metavar="en,de", help="Languages of the training.  [default: all of POOL]"),
    click.option("--split", metavar="NAME", help="Only the rows of this split."),
    word(
        "--regime",
        ("en-en", "x-x", "x-x-mono", "x-y", "hybrid"),
        "Which languages meet in a batch: docs/dual-encoder.md.  [default: x-y]",
    ),
    click.option("--language", metavar="TAG", help="The one that en-en trains on.  [default: en]"),
    click.option(
        "--base",
        metavar="SPEC",
        default="words",
        show_default=True,
        help="What the towers stand on: words (from scratch), hf:NAME_OR_PATH (a network of transformers, "
        "trained further), or any text encoder, which stays as it is.",
    ),
    click.option("--frozen", is_flag=True, help="Leave the network of --base hf: as it is, too."),
    whole("--batch", "Pairs of a batch.  [default: 256]"),
    whole("--steps", "Batches of an epoch.  [default: one pass over the data]"),
    whole("--sub-batch", "Pairs whose answers are each other's negatives.  [default: the batch]"),
    word("--positive", ("inside", "outside"), "Is the right answer in the softmax's sum?  [default: inside]"),
    number("--scale", "What products are multiplied by at first; it is trained.  [default: 20]"),
    word(
        "--false-negatives",
        ("keep", "mask"),
        "Answers of the batch that are right for a question too: negatives, or left out.  [default: keep]",
    ),
    click.option("--separate", is_flag=True, default=None, help="Answers have a tower of their own."),
    click.option(
        "--context/--no-context",
        default=None,
        help="Answers are read with what surrounds them.  [default: by a network of transformers]",
    ),
    whole("--dim", "Dimensions, with --base words.  [default: 256]"),
    click.option(
        "--ngrams", type=Lengths(), help="Characters of n-grams, with --base words.  [default: 3-5]"
    ),
    whole("--buckets", "Numbers that n-grams share.  [default: 32768]"),
    whole("--threshold", "Words that occur less often are unknown.  [default: 1]"),
    whole("--most-words", "Only the most frequent words are known.  [default: 100000]"),
    whole("--hidden", "Units of a layer over words or vectors, 0: none.  [default: words 0, vectors 256]"),
    number("--dropout", "Share of features left out at a time.  [default: words 0.5, vectors 0]"),
    whole("--max-length", "Tokens that a network of transformers reads.  [default: all it can]"),
    click.option(
        "--validation",
        metavar="SHARE|none",
        help="Share of the paragraphs that is held out; mAP on it chooses the epoch.  [default: 0.1]",
    ),
)


@click.command("dual-encoder", short_help="Questions and answers of several languages in one space.")
@click.argument("pool", type=click.Path(path_type=Path))
def dual_encoder(pool: Path, **given: Any) -> None:  # noqa: ANN401  (options)
    """Train a dual encoder (LAReQA) on the questions of POOL and their answers in all languages.

    POOL is a multilingual pool, or a table with the columns question_LANG and answer_LANG.
    """
    from xlingual.data.pools.parallel_reading import read_parallel
    from xlingual.training.options import FitOptions
    from xlingual.training.recipes.dual_options import DualOptions
    from xlingual.training.settings import option_types
    from xlingual.training.sinks import parse_sink
    from xlingual.workflows.train_dual_encoder import fit_options, train_dual_encoder

    check_folder(given["out"])
    given["text_encoders"] = (given["base"],) if given["max_cost"] is not None else ()
    store = chosen_store(given)
    base = given["text_encoders"][0] if given["text_encoders"] else given["base"]
    chosen = told(given, option_types(FitOptions, DualOptions), given["config"])
    of_fit = {name: chosen.pop(name) for name in option_types(FitOptions) if name in chosen}
    if "seed" in of_fit:
        chosen["seed"] = of_fit["seed"]
    sinks = [parse_sink(text) for text in given["log_to"]]
    languages = None if given["languages"] is None else listed_languages(given["languages"])
    with (
        told_how_to_go_on(given["out"]),
        screen.warnings_as_lines(),
        screen.progress(given["quiet"] or given["as_json"]) as progress,
    ):
        if progress is not None:
            progress("reading the pool", 0, 1)
        trained = train_dual_encoder(
            read_parallel(pool, languages, given["split"]),
            given["out"],
            DualOptions(**chosen),
            base=base,
            frozen=given["frozen"],
            fit=fit_options(base, frozen=given["frozen"], **of_fit),
            validation=_share(given["validation"]),
            resume=given["resume"],
            replace=given["force"],
            sinks=sinks,
            store=store,
            progress=progress,
        )
    if given["as_json"]:
        screen.print_json(trained.folder.config)
    elif not given["quiet"]:
        _show(trained, base)


dual_encoder = added(dual_encoder, (*_DUAL, *FIT, encoding_options, *RUN))


def _share(text: str | None) -> float | None:
    if text is None:
        return 0.1
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--validation {text}: give a share between 0 and 1, such as 0.1, or none") from None


def _show(trained: TrainedDual, base: str) -> None:
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
