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
from xlingual.cli.ranking_options import chosen_ranker, ranking_options
from xlingual.cli.sections import Sectioned
from xlingual.cli.train_triplet import MODEL, OF_XL
from xlingual.cli.training_options import added, number, whole
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
_FIT = (
    whole("--epochs", "Epochs.  [default: 40]"),
    number("--rate", "Learning rate of Adam.  [default: 0.01]"),
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


@click.command(cls=Sectioned, context_settings={"allow_extra_args": True})
@manifest_options
@image_options
@sample_options
@ranking_options
@output_options
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
    given["ranker"] = chosen_ranker(_where_to_rank(given), store)
    columns = {name: given[name] for name in COLUMNS}
    trained = _trained(given)
    with screen.warnings_as_lines(), screen.progress(given["quiet"] or given["as_json"]) as progress:
        if progress is not None:
            progress("reading the manifest", 0, 1)
        train = Manifest.read(manifest, **columns, split=given["train_split"]) if trained.anything else None
        study = run_case_study(
            Manifest.read(manifest, **columns, split=given["split"] or SPLIT, rows=given["rows"]),
            out,
            text_encoders=given["text_encoders"],
            evaluated=_evaluated(given),
            train=train,
            base=given["base"],
            trained=trained,
            worst=given["worst"],
            store=store,
            progress=progress,
        )
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


casestudy = added(casestudy, (*_STUDY, *MODEL, *OF_XL, *_FIT))


def _where_to_rank(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options for ranking: the device is that of the trainings, too, and some serve only these."""
    trains_only = given["backend"] in ("cpu", "ray") or (given["device"] or "").startswith("mps")
    return given | ({"device": None} if trains_only else {})


def _evaluated(given: dict[str, Any]) -> Any:  # noqa: ANN401  (Evaluated, imported where it is needed)
    from xlingual.workflows.case_study import Evaluated

    names = (
        "image_encoder",
        "pairs",
        "sample_size",
        "splits",
        "seeds",
        "seed",
        "measure",
        "threads",
        "ranker",
    )
    return Evaluated(**{name: given[name] for name in (*names, "examples", "skip_broken")})


def _trained(given: dict[str, Any]) -> Any:  # noqa: ANN401  (as above)
    from xlingual.training.recipes.triplet_options import TripletOptions
    from xlingual.training.settings import option_types
    from xlingual.workflows.case_study_models import Trained

    told = {name: given.get(name) for name in option_types(TripletOptions) if name not in ("split", "seed")}
    options = {
        name: value for name, value in {**told, "split": given["split_text"]}.items() if value is not None
    }
    return Trained(
        times=1 if given["trainings"] is None else given["trainings"],
        seed=given["seed"],
        options=options,
        fit={name: given[name] for name in ("epochs", "rate", "device") if given[name] is not None},
        validation=given["validation"],
        triplet=given["triplet"],
        triplet_xl=given["triplet_xl"],
        resume=given["resume"],
        replace=given["force"],
    )
