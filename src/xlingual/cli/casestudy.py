"""`xlingual casestudy`: evaluate encoders, train on the best without parallel texts, and say what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.options import (
    COLUMNS,
    check_folder,
    chosen_store,
    image_options,
    manifest_options,
    output_options,
    refuse_extra,
    sample_options,
)
from xlingual.cli.training_options import added, number, whole, word
from xlingual.errors import InputError

SPLIT, TRAIN_SPLIT = "test", "train"
_STUDY = (
    click.option("--base", metavar="NAME", help="Text encoder to train on.  [default: the one that leads]"),
    click.option(
        "--train-split",
        metavar="NAME",
        default=TRAIN_SPLIT,
        show_default=True,
        help="Rows to train on; those of --split are evaluated (default there: test).",
    ),
    whole("--trainings", "How often each model is trained, with other seeds.  [default: 1]"),
    click.option("--measure", default="R@10", show_default=True, metavar="NAME", help="R@k or RR."),
    click.option(
        "--worst",
        type=click.IntRange(min=1),
        default=3,
        show_default=True,
        metavar="N",
        help="How many language pairs are called Triplet's worst; at most half of all.",
    ),
    click.option(
        "--triplet",
        multiple=True,
        metavar="MODEL",
        help="Take this model, trained before, instead of training one; repeat for several trainings.",
    ),
    click.option("--triplet-xl", multiple=True, metavar="MODEL", help="The same for TripletXL."),
    click.option("--examples/--no-examples", default=True, help="Keep texts and thumbnails for the report."),
)
_MODEL = (
    click.option("--title", metavar="NAME", help="Column of titles.  [default: title]"),
    click.option("--body", metavar="NAME", help="Column of bodies.  [default: body]"),
    word(
        "--split-text",
        ("first-sentence", "halves"),
        "Make title and body of the text itself: its first sentence and the rest, or its halves.",
    ),
    number("--margin", "By how much a body is to be nearer to its own title.  [default: 0.1]"),
    whole("--batch", "Texts of a batch.  [default: 128]"),
    click.option(
        "--separate-towers", is_flag=True, default=None, help="Title and body have weights of their own."
    ),
    number("--beta", "TripletXL: weight of the neighbour term.  [default: 0.01]"),
    whole("--neighbours", "TripletXL: nearest titles of each language that are compared.  [default: 5]"),
    word("--neighbours-from", ("batch", "index"), "TripletXL: among the batch, or all.  [default: batch]"),
    word("--neighbours-by", ("current", "base"), "TripletXL: by whose vectors.  [default: current]"),
)
_FIT = (
    whole("--epochs", "Epochs.  [default: 40]"),
    number("--rate", "Learning rate of Adam.  [default: 0.01]"),
    click.option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1, mps.  [default: auto]"),
    click.option(
        "--validation",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.1,
        show_default=True,
        metavar="SHARE",
        help="Share of the rows to train on where epochs are compared.",
    ),
    click.option("--resume", is_flag=True, help="Go on with models whose training was interrupted."),
    click.option("--force", is_flag=True, help="Train anew where DIR has models already."),
)
_OPTIONS = (
    *("title", "body", "margin", "batch", "separate_towers"),
    *("beta", "neighbours", "neighbours_from", "neighbours_by"),
)


@click.command(context_settings={"allow_extra_args": True})
@manifest_options
@image_options
@sample_options
@click.pass_context
def casestudy(ctx: click.Context, /, manifest: Path, **given: Any) -> None:  # noqa: ANN401  (options)
    """Evaluate text encoders, train Triplet and TripletXL on one of them, and say what the trainings changed.

    MANIFEST holds texts with pictures in several languages (--split) and further texts, which need neither
    pictures nor translations, to train on (--train-split). All are evaluated by Backretrieval over all
    language pairs.
    """
    from xlingual.data.manifest import Manifest
    from xlingual.workflows.case_study import EVALUATION, run_case_study

    refuse_extra(ctx)
    out: Path | None = given["out"]
    if out is None:
        raise InputError("--out is missing: the study writes models and results, so say where with --out DIR")
    check_folder(out)
    store = chosen_store(given)
    columns = {name: given[name] for name in COLUMNS}
    trained = _trained(given)
    with screen.warnings_as_lines(), screen.progress(given["quiet"] or given["as_json"]) as progress:
        if progress is not None:
            progress("reading the manifest", 0, 1)
        whole_given = bool(given["triplet"] and given["triplet_xl"])
        study = run_case_study(
            Manifest.read(manifest, **columns, split=given["split"] or SPLIT, rows=given["rows"]),
            out,
            text_encoders=given["text_encoders"],
            evaluated=_evaluated(given),
            train=None if whole_given else Manifest.read(manifest, **columns, split=given["train_split"]),
            base=given["base"],
            trained=trained,
            worst=given["worst"],
            store=store,
            progress=progress,
        )
    (out / "report.html").unlink(missing_ok=True)  # of an earlier run, with other numbers
    if given["as_json"]:
        screen.print_json(study.to_dict())
    elif not given["quiet"]:
        from xlingual.report.case_study import show

        show(screen.console(), study)
    screen.wrote(out / "case_study.json", quiet=given["quiet"])
    if given["report"]:
        from xlingual.report import write_report
        from xlingual.report.case_study import write_case_study
        from xlingual.results import Results

        write_case_study(study, out / "report.html")
        screen.wrote(out / "report.html", quiet=given["quiet"])
        write_report([Results.read(out / EVALUATION)], out / EVALUATION / "report.html")
        screen.wrote(out / EVALUATION / "report.html", quiet=given["quiet"])


casestudy = added(casestudy, (*_STUDY, *_MODEL, *_FIT, output_options))


def _evaluated(given: dict[str, Any]) -> Any:  # noqa: ANN401  (Evaluated, imported where it is needed)
    from xlingual.workflows.case_study import Evaluated

    names = ("image_encoder", "pairs", "sample_size", "splits", "seeds", "seed", "measure", "threads")
    return Evaluated(**{name: given[name] for name in (*names, "examples", "skip_broken")})


def _trained(given: dict[str, Any]) -> Any:  # noqa: ANN401  (as above)
    from xlingual.workflows.case_study import Trained

    options = {name: given[name] for name in _OPTIONS if given[name] is not None}
    if given["split_text"] is not None:
        options["split"] = given["split_text"]
    return Trained(
        times=given["trainings"] or 1,
        seed=given["seed"],
        options=options,
        fit={name: given[name] for name in ("epochs", "rate", "device") if given[name] is not None},
        validation=given["validation"],
        triplet=given["triplet"],
        triplet_xl=given["triplet_xl"],
        resume=given["resume"],
        replace=given["force"],
    )
