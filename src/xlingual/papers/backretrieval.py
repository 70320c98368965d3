"""Backretrieval's case study: Triplet and TripletXL on the best of several encoders, without parallel texts.

Section 3.2 of Fain, Twomey and Bollegala (SIGIR 2021): Table 2 and Figure 3.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from xlingual.errors import DataWarning, InputError, did_you_mean, listed
from xlingual.requests.record import Request, option
from xlingual.requests.shared import (
    Columns,
    ImageEncoding,
    Keeping,
    ManifestOptions,
    Output,
    Sampling,
    TextEncoders,
)
from xlingual.requests.values import Positive, Share
from xlingual.training.options import FitOptions, defaults_in_help
from xlingual.training.recipes.triplet_options import CONVENTIONS, FIT, Conventions, TripletOptions
from xlingual.training.requests import TrainAnew

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.encoders import Spec
    from xlingual.papers.findings import StudyFindings
    from xlingual.papers.study import Context, Measured, Model
    from xlingual.results import Results

    Evaluate: TypeAlias = Callable[[Mapping[str, Any], Path, Context], Results]

TRIPLET, TRIPLET_XL = "triplet", "triplet-xl"
MEANS, PAIRS = "Table 2", "Figure 3"
TERMS = {
    "Triplet": "Two dense layers on the base's frozen vectors of title and body. Training brings a body "
    "nearer to its own title than to other titles. No matching texts across languages are used.",
    "TripletXL": "Triplet with a penalty for texts that are nearer to neighbours in their own language than "
    "to neighbours in other languages.",
    "Control": "The base's vectors of title and body, concatenated and scaled as in Triplet, without "
    "training. Triplet reads title and body separately, the base reads the whole text. So a gain over the "
    "base comes from training only if it is also a gain over the control.",
}


class BackretrievalStudyRequest(Request, frozen=True, kw_only=True):
    """Evaluate encoders, train on the best without parallel texts, and report what changed."""

    command = "papers backretrieval"
    own_folder = True
    otherwise: ClassVar[Mapping[str, str]] = {
        **defaults_in_help(TripletOptions, CONVENTIONS),
        **defaults_in_help(FitOptions, CONVENTIONS),
    }

    data: ManifestOptions
    images: ImageEncoding
    text_encoders: TextEncoders
    base: Annotated[
        str | None, option("The base encoder of the trainings.", metavar="NAME", otherwise="the best one")
    ] = None
    train_split: Annotated[
        str, option("Rows to train on; those of --split are evaluated (default there: test).", metavar="NAME")
    ] = "train"
    trainings: Annotated[
        Positive, option("Number of trainings of each model, with different seeds.", metavar="N")
    ] = 3
    measure: Annotated[str, option("The measure of the study: R@k or RR.", metavar="NAME")] = "R@10"
    sampling: Sampling
    conventions: Conventions = "default"
    model: TripletOptions = TripletOptions(beta=0.01)
    validation: Annotated[
        Share, option("Share of the rows to train on where epochs are compared.", metavar="SHARE")
    ] = 0.1
    fit: FitOptions = FitOptions(**FIT)
    keeping: Keeping
    output: Output
    force: TrainAnew = False


REQUEST = BackretrievalStudyRequest


def presets(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the conventions that were asked for set."""
    return CONVENTIONS[options.get("conventions", "default")]


def run_study(request: BackretrievalStudyRequest, context: Context) -> StudyFindings:
    """Evaluate text encoders, train Triplet and TripletXL on one of them, and show what training changed.

    MANIFEST holds texts with images in several languages (--split) and further texts, which need neither
    images nor translations, to train on (--train-split). All are evaluated by Backretrieval over all
    language pairs. Models that DIR has already are not trained again: if interrupted, the same command goes
    on.
    """
    from xlingual import encoders
    from xlingual.measures import parse_measure
    from xlingual.papers.findings import BOXES, StudyTable
    from xlingual.papers.study import Question, Recipe, Study, every_pair, identity_of, run, settings_of
    from xlingual.workflows.train_triplet import train_triplet

    assert request.output.out is not None
    measure = parse_measure(request.measure)
    if measure.bounds != (0.0, 1.0) or not measure.higher_is_better:
        raise InputError(f"--measure must be from 0 to 1, such as R@10 or RR: found {measure.name}")
    train, test = parts(request)
    specs = encoders.text_specs(request.text_encoders, languages=test.languages)
    evaluated = partial(evaluate, request, test)
    base = chosen_base(request.base, specs, evaluated, request.output.out, context)
    below = encoders.parse(str(specs[base]))
    fit, below_identity = request.fit, identity_of(str(below), train.languages)

    def recipe(name: str) -> Recipe:
        def trained(folder: Path, seed: int, **more: Any) -> None:  # noqa: ANN401
            train_triplet(
                train,
                options.changed(seed=seed),
                folder,
                text_encoder=str(replace(below, name=base)),
                fit=fit.changed(seed=seed),
                validation=request.validation,
                store=context.store,
                **more,
            )

        options = request.model.changed(beta=request.model.beta if name == TRIPLET_XL else 0.0)
        if options.recipe != name:
            raise InputError("--beta is 0: TripletXL has a neighbour term, so give a weight above 0")
        settings = settings_of(
            options, fit, validation=request.validation, base=below_identity, data=train.digest
        )
        return Recipe(trained, settings, str(below))

    trained, (control, missing) = [TRIPLET, TRIPLET_XL], control_of(request.model, base, below, test)
    models = [name for name in specs if name != base] + [base, *control, *trained]
    asked = [(TRIPLET, base), *((TRIPLET, name) for name in control), *((name, base) for name in control)]
    study = Study(
        paper="backretrieval",
        title=f"Training on {base} without parallel texts",
        train={name: recipe(name) for name in trained},
        encoders={**specs, **control},
        order=models,
        steps={"backretrieval": partial(measured, evaluated, measure.name)},
        tables=[
            StudyTable(
                *(MEANS, "Backretrieval, mean over language pairs", base, measure.name),
                "Chance is the score of an encoder without any knowledge.",
            ),
            StudyTable(PAIRS, "Backretrieval over language pairs", base, form=BOXES),
        ],
        questions=[
            *every_pair(models, MEANS, measure.name, "Every pair of models"),
            *(
                Question(one, other, MEANS, measure.name, "What training changes", headline=True)
                for one, other in [*asked, (TRIPLET_XL, TRIPLET)]
            ),
        ],
        conditions={
            "task": "backretrieval",
            "data": test.digest[:12],
            "trained on": train.digest[:12],
            "image encoder": request.images.image_encoder,
            "base": f"{base}, {'as named' if request.base else 'the best on the evaluated texts'}",
            "seed": str(request.sampling.seed),
        },
        facts={
            "languages": len(test.languages),
            "texts evaluated": len(test),
            "texts to train on": len(train),
            "samples": request.sampling.seeds,
        },
        terms=TERMS,
        notes=missing,
    )
    seeds = {"trainings": request.trainings, "seed": request.sampling.seed}
    return run(study, request.output.out, **seeds, force=request.force, context=context)


def parts(request: BackretrievalStudyRequest) -> tuple[Manifest, Manifest]:
    """Return the texts to train on and those to evaluate; none may be in both, nor an item of them."""
    from xlingual.data.manifest import Manifest

    columns = {name: getattr(request.data, name) for name in Columns.__struct_fields__}
    read = partial(Manifest.read, request.data.manifest, **columns)
    train = read(split=request.train_split)
    test = read(split=request.data.split or "test", rows=request.data.rows)
    if shared := test.n_shared(train):
        raise InputError(
            f"{shared} texts are both trained and evaluated on: the split to train on must be another"
        )
    if same := set(test.item_ids) & set(train.item_ids):
        raise InputError(
            f"{len(same)} items are both trained and evaluated on, with other texts "
            f"({listed(sorted(same), 3)}): a split must keep the texts of an item together"
        )
    return train, test


def evaluate(
    request: BackretrievalStudyRequest,
    test: Manifest,
    specs: Mapping[str, Any],
    folder: Path,
    context: Context,
) -> Results:
    """Evaluate encoders by Backretrieval in one pass, and write the results."""
    from xlingual.evaluation.backretrieval import backretrieval

    results = backretrieval(
        test,
        text_encoders=specs,
        image_encoder=request.images.image_encoder,
        skip_broken=request.images.skip_broken,
        **{name: getattr(request.sampling, name) for name in request.sampling.__struct_fields__},
        measures=[request.measure],
        threads=request.fit.threads or 1,
        neighbours=False,
        store=context.store,
        progress=context.progress,
    )
    results.write(folder)
    return results


def chosen_base(
    name: str | None, specs: Mapping[str, Any], evaluated: Evaluate, out: Path, context: Context
) -> str:
    """Return the base: the named one, else the encoder that leads on the evaluated texts, as in the paper.

    Even where there is no choice it is evaluated, which finds errors in the data before anything is trained.
    """
    if name is not None and name not in specs:
        raise InputError(
            f"no text encoder is named {name!r}.{did_you_mean(name, specs)} "
            f"--base is one of {listed(specs, 20)}"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the evaluation of all models gives them
        results = evaluated(specs if name is None else {name: specs[name]}, out / "before training", context)
    overall = [
        row for row in results.summary if row.source is None and row.measure == results.entries[0].measure
    ]
    best = max(overall, key=lambda row: row.value or 0.0)
    return best.encoder


def control_of(
    options: TripletOptions, base: str, below: Spec, test: Manifest
) -> tuple[dict[str, str], list[str]]:
    """Return name and spec of the base's title and body, at unit length, untrained; or why there is none."""
    from xlingual.encoders import Spec
    from xlingual.models.texts import WHOLE

    columns = [options.title, options.body] if options.split is None else []
    if absent := [name for name in columns if name != WHOLE and name not in test.fields]:
        return {}, [
            f"There is no control (title and body of {base} side by side, untrained): the evaluated texts "
            f"have no column {listed(absent)}; name their columns with --title and --body."
        ]
    names = ("title", "body", "split")
    read = {name: str(getattr(options, name)) for name in names if getattr(options, name) is not None}
    return {f"{base}-title-body": str(Spec(None, "concat", "", tuple(read.items()), below))}, []


def measured(
    evaluated: Evaluate, measure: str, models: Sequence[Model], folder: Path, context: Context
) -> Iterator[Measured]:
    """Measure all models over language pairs (Table 2), and on each of them (Figure 3)."""
    from xlingual.comparison.reading import read_aligned
    from xlingual.papers.study import Measured

    results = evaluated(
        {label: spec for model in models for label, spec in model.specs.items()}, folder, context
    )
    queries = read_aligned([folder], measures=[measure]).queries[0]
    for part in [queries, *queries.slices("pair").values()]:
        pair = (None, None) if part is queries else part.direction
        rows = [row for row in results.summary if (row.source, row.target, row.measure) == (*pair, measure)]
        where = (MEANS, measure) if part is queries else (PAIRS, " → ".join(part.direction))
        intervals = {row.encoder: row.ci for row in rows}
        yield Measured(*where, part, intervals, chance=rows[0].chance)
