"""The image pivot of a case study: fitted on the texts with images that are trained on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from xlingual import encoders
from xlingual.data.manifest import Manifest
from xlingual.encoders import Encoder, ImageModelLike, Spec
from xlingual.errors import InputError, parameter
from xlingual.models.folder import CONFIG
from xlingual.results.case_study import PIVOT, FittedPivot, Training
from xlingual.workflows.case_study_models import Trained, Trainer
from xlingual.workflows.pivoting import train_pivot
from xlingual.workflows.pivoting.trained import image_encoder_of
from xlingual.workflows.studies import naming, timed


@dataclass(frozen=True)
class FittedModel:
    """The image pivot as a model of the study, and how it was fitted."""

    training: Training
    found: FittedPivot


@dataclass(frozen=True)
class Pivoting:
    """Fitting the image pivot of a study."""

    image_encoder: ImageModelLike

    @classmethod
    def of(cls, image_encoder: ImageModelLike, judge: ImageModelLike, manifest: Manifest) -> Pivoting:
        """Return it; raise InputError where the study would judge it by the images that it is fitted on."""
        _, fitted = image_encoder_of(image_encoder, manifest)
        _, judging = encoders.image_model(judge, languages=list(manifest.languages))
        if isinstance(judging, Encoder) and judging.identity == fitted.identity:
            raise InputError(
                f"{parameter('pivot_image_encoder')} is the image encoder that the study evaluates with, "
                "which would judge the image pivot by the images that it is fitted on: name another one"
            )
        return cls(image_encoder)

    def refuse_model_in(self, folder: Path, trained: Trained) -> None:
        """Raise InputError, before any work, where a model of an earlier study would be replaced."""
        if not (trained.resume or trained.replace) and (folder / PIVOT / CONFIG).exists():
            raise InputError(
                f"{folder / PIVOT} already has a model: continue with resume, fit it anew with force, or "
                "choose another folder"
            )

    def fitted(self, job: Trainer) -> FittedModel:
        """Return the image pivot of the base, fitted and written.

        Nothing is held out, since the study tests it. InputError where texts or images are too few.
        """
        assert job.manifest is not None  # checked before any work
        out = job.folder / PIVOT
        with timed(job.timings, f"train: {PIVOT}"):
            pivoted = train_pivot(
                job.manifest,
                str(replace(job.base, name=job.base_name)),
                self.image_encoder,
                held_out=0.0,
                seed=job.trained.seed,
                store=job.store,
                progress=naming(PIVOT, job.progress),
            )
        pivoted.write(out)
        found = pivoted.found
        return FittedModel(
            Training(
                encoder=PIVOT,
                spec=str(Spec(None, "model", str(out), (), job.base)),
                seed=None,
                epochs=None,
                best_epoch=None,
                score=None,
                seconds=job.timings[f"train: {PIVOT}"],
            ),
            FittedPivot(
                image_encoder=found.image_encoder,
                chosen=found.chosen,
                near=sum(pair.near for pair in found.pairs),
                same=sum(pair.same for pair in found.pairs),
                items=found.items,
            ),
        )
