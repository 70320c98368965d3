"""The case study: encoders over all language pairs, Triplet and TripletXL on the best, and what they change.

Section 3.2 of Fain, Twomey and Bollegala (SIGIR 2021) in one call; see docs/papers/case-study.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Unpack

from msgspec.structs import replace

from xlingual import encoders
from xlingual.comparison.case_study import WORST, Cast, case_study
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.samples import SampleLike
from xlingual.embed.encoding import Progress
from xlingual.encoders import EncoderLike, ImageModelLike
from xlingual.errors import DataWarning, InputError, did_you_mean, listed
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.files import make_folder
from xlingual.measures import parse_measure
from xlingual.ranking import Ranker
from xlingual.requests import sign
from xlingual.results import Results
from xlingual.results.case_study import PIVOT, TRIPLET, TRIPLET_XL, CaseStudy
from xlingual.signature import Signature
from xlingual.store import StoreLike
from xlingual.training.requests import CaseStudyRequest
from xlingual.workflows.case_study_models import (
    BESIDE,
    RECIPES,
    Trained,
    Trainer,
    base_spec,
    refuse_models_in,
)
from xlingual.workflows.case_study_pivot import Pivoting
from xlingual.workflows.studies import timed

EVALUATION = "backretrieval"  # the folder of the evaluation's results, inside the study's
MODELS = "models"  # that of the trained models


@dataclass(frozen=True)
class Evaluated:
    """How everything is evaluated; the options of `backretrieval`."""

    image_encoder: ImageModelLike
    pairs: str | Sequence[str] | None = None
    sample: SampleLike = "all"
    texts_per_item: int | Literal["all"] = "all"
    seeds: int = 1
    seed: int = 0
    measure: str = "R@10"
    threads: int = 1
    ranker: Ranker | None = None
    examples: bool = True
    skip_broken: bool = False

    def results(
        self,
        manifest: Manifest,
        text_encoders: Mapping[str, EncoderLike],
        *,
        store: StoreLike,
        progress: Progress | None,
        examples: bool = True,
    ) -> Results:
        """Return the results of Backretrieval, in one pass over all encoders."""
        options = {name: value for name, value in vars(self).items() if name not in ("measure", "examples")}
        return backretrieval(
            manifest,
            text_encoders=text_encoders,
            measures=[self.measure],
            examples=examples and self.examples,
            neighbours=False,
            store=store,
            progress=progress,
            **options,
        )


@takes_data("train")
def run_case_study(
    manifest: ManifestLike,
    out: str | Path,
    *,
    text_encoders: Sequence[EncoderLike] | Mapping[str, EncoderLike] | EncoderLike,
    evaluated: Evaluated,
    train: ManifestLike | None = None,
    base: str | None = None,
    trained: Trained | None = None,
    worst: int = WORST,
    control: bool = True,
    pivot_image_encoder: ImageModelLike | None = None,
    replicates: int | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
    **columns: Unpack[DataOptions],
) -> CaseStudy:
    """Evaluate encoders, train Triplet and TripletXL on one of them, evaluate all, and compare.

    Args:
        manifest: texts with images to evaluate on, of two languages or more.
        out: gets `backretrieval/` (results), `models/` and `case_study.json`.
        text_encoders: as `backretrieval` takes them; the base must be a spec.
        evaluated: how all are evaluated.
        train: texts with the fields that are trained on; may be absent where both models are trained already.
        base: the name of the encoder to train on; None takes the best one.
        trained: how the models come to be.
        worst: how many language pairs are called Triplet's worst.
        control: whether the base's title and body side by side, untrained, are evaluated too; left out with
            a warning where the evaluated texts have no such columns.
        pivot_image_encoder: fits an image pivot of the base (`train_pivot`) on the texts of `train` that have
            images; it must be another one than that which everything is evaluated with. None: no pivot.
        replicates: of each test; None: as many as the corrections need.
        store: where vectors are kept and found again.
        progress: is called with (what, done, total).

    Raises:
        InputError: data, specs or options are invalid.

    """
    trained = trained or Trained()
    count = trained.number()
    measure = parse_measure(evaluated.measure)
    if measure.bounds != (0.0, 1.0) or not measure.higher_is_better:
        raise InputError(f"a case study needs a measure from 0 to 1, R@k or RR: found {measure.name}")
    named = encoders.text_specs(text_encoders, languages=manifest.languages)
    pivoting = None
    if pivot_image_encoder is not None:
        pivoting = Pivoting.of(pivot_image_encoder, evaluated.image_encoder, manifest)
    _check(named, base, trained, manifest, train, control, pivoting)
    folder = make_folder(out)
    refuse_models_in(folder / MODELS, trained, count)
    if pivoting is not None:
        pivoting.refuse_model_in(folder / MODELS, trained)
    timings: dict[str, float] = {}
    chosen = _base(manifest, named, base, trained, evaluated, store, progress, timings)
    job = Trainer(
        folder / MODELS, chosen, base_spec(chosen, named[chosen]), train, trained, store, progress, timings
    )
    pivot = None if pivoting is None else pivoting.fitted(job)  # first, since it finds what is missing soon
    models = {recipe: job.models(recipe, count) for recipe in RECIPES}
    beside, missing = job.control(manifest) if control else ({}, [])
    made = [] if pivot is None else [pivot.training]
    made += [model for recipe in RECIPES for model in models[recipe]]
    everything = dict(named) | beside | {model.encoder: model.spec for model in made}
    results = evaluated.results(manifest, everything, store=store, progress=progress)
    results.write(folder / EVALUATION)
    found = case_study(
        folder / EVALUATION,
        Cast(
            base=chosen,
            others=tuple(name for name in named if name != chosen),
            triplet=tuple(model.encoder for model in models[TRIPLET]),
            triplet_xl=tuple(model.encoder for model in models[TRIPLET_XL]),
            base_given=base is not None or len(named) == 1,
            control=next(iter(beside), None),
            pivot=None if pivot is None else pivot.training.encoder,
        ),
        measure=measure.name,
        worst=worst,
        seed=evaluated.seed,
        replicates=replicates,
        trainings=made,
        progress=progress,
    )
    found = replace(
        found,
        pivot=None if pivot is None else pivot.found,
        timings={**timings, **found.timings},
        warnings=[*found.warnings, *_other_base(results, chosen), *missing],
    )
    given = {
        **vars(trained),
        **trained.options,
        **trained.fit,
        **vars(evaluated),
        "worst": worst,
        "base": base,
        "control": control,
        "pivot_image_encoder": pivot_image_encoder,
    }
    given |= {"manifest": manifest.path or manifest, "text_encoders": text_encoders}
    found = sign(found, CaseStudyRequest, given)
    found.write(folder)
    return found


def _check(
    named: Mapping[str, EncoderLike],
    base: str | None,
    trained: Trained,
    manifest: Manifest,
    train: Manifest | None,
    control: bool,
    pivoting: Pivoting | None,
) -> None:
    """Raise InputError, before any work, where the study cannot be done."""
    if base is not None and base not in named:
        raise InputError(
            f"no text encoder is named {base!r}.{did_you_mean(base, named)} The base is one of "
            f"{listed(named, 20)}"
        )
    if base is not None:
        base_spec(base, named[base])
    taken = [name for name in named if name in RECIPES or name.rpartition("-")[0] in RECIPES]
    if taken:
        raise InputError(
            f"a text encoder is named {taken[0]!r}, as a trained model will be: give it another name, "
            f"NAME=SPEC, or the model itself with --{taken[0]}"
        )
    if pivoting is not None and PIVOT in named:
        raise InputError(
            f"a text encoder is named {PIVOT!r}, as the image pivot of the base will be: give it another "
            "name, NAME=SPEC"
        )
    if control and (clash := [name for name in named if f"{name}{BESIDE}" in named]):
        raise InputError(
            f"a text encoder is named {clash[0] + BESIDE!r}, as the control of {clash[0]} will be: give it "
            "another name, NAME=SPEC"
        )
    if not trained.anything and pivoting is None:
        return
    if train is None:
        instead = (
            "give models of triplet and of triplet-xl" if pivoting is None else "leave the image pivot out"
        )
        raise InputError(f"nothing to train on: name the split to train on, or {instead}")
    if shared := manifest.n_shared(train):
        raise InputError(
            f"{shared} texts are both trained and evaluated on: the split to train on must be another"
        )
    if same := set(manifest.item_ids) & set(train.item_ids):
        raise InputError(
            f"{len(same)} items are both trained and evaluated on, with other texts "
            f"({listed(sorted(same), 3)}): a split must keep the texts of an item together"
        )


def _other_base(results: Results, base: str) -> list[str]:
    """Return a warning where the base that is evaluated is not the encoder below the models.

    An encoder that is fitted is another one where it is made for fewer languages than were trained on.
    """
    of = {e.encoder: Signature.parse(e.signature).system.get("encoder", "") for e in results.entries}
    below = {name.partition("::")[2] for name in of.values() if name.startswith("model:triplet:")}
    if not below - {of[base]}:
        return []
    return [
        f"{base} is fitted on other languages where it is evaluated ({of[base]}) than below the models "
        f"({listed(sorted(below - {of[base]}))}): part of the models' difference from it is that; evaluate "
        "all the languages that are trained on"
    ]


def _base(
    manifest: Manifest,
    named: Mapping[str, EncoderLike],
    base: str | None,
    trained: Trained,
    evaluated: Evaluated,
    store: StoreLike,
    progress: Progress | None,
    timings: dict[str, float],
) -> str:
    """Return the base: as named, else the encoder that leads on the evaluated data, as the paper chose it.

    Even where there is no choice, the evaluation here finds errors in the data before anything is trained.
    The evaluation of all models gives the warnings.
    """
    evaluated_now = named if base is None else {base: named[base]}
    if len(evaluated_now) == 1 and not trained.anything:
        return next(iter(evaluated_now))
    with timed(timings, "before training"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        results = evaluated.results(manifest, evaluated_now, store=store, progress=progress, examples=False)
    first = results.entries[0].measure
    overall = [row for row in results.summary if row.source is None and row.measure == first]
    return max(overall, key=lambda row: row.value or 0.0).encoder
