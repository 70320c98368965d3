"""Training MLMME or VSE: a manifest becomes a corpus, the corpus a model, validated by the sum of recalls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from xlingual import encoders
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import batch_identity
from xlingual.encoders import EncoderLike
from xlingual.encoders.runtime import require
from xlingual.errors import InputError, listed, warn
from xlingual.models.texts import Vocabulary
from xlingual.store import StoreLike, open_store
from xlingual.training.corpus import Corpus, Source, TextReading, count_vocabularies, pack
from xlingual.training.options import FitOptions
from xlingual.training.recipe import OnLog, ValidationScores
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.training.samplers import IMAGES
from xlingual.workflows.trained import TrainedModel, TrainingRun, check_size, data_part, divided, running

if TYPE_CHECKING:
    from xlingual.training.recipes.mlmme import GroupedVectors


@takes_data("validation", leave=(int, float))
def train_mlmme(
    manifest: ManifestLike,
    options: MlmmeOptions,
    out: str | Path,
    *,
    fit: FitOptions | None = None,
    image_encoder: EncoderLike | None = None,
    validation: ManifestLike | float = 0.1,
    validation_image_encoder: EncoderLike | None = None,
    recipe: str = "mlmme",
    resume: bool = False,
    replace: bool = False,
    on_log: OnLog | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
    **columns: Unpack[DataOptions],
) -> TrainedModel:
    """Train a model on a manifest's texts and images and write it to the folder `out`.

    Args:
        manifest: items with texts in the languages of `options`, and with images unless its beta is 0.
        options: the model and the loss; `MlmmeOptions.preset` makes those of a named recipe.
        out: the folder of the model; `model:DIR` is then an encoder.
        fit: epochs, rate, patience, device …
        image_encoder: what makes vectors of images; may be left out only with beta 0.
        validation: a manifest, or the share of items that is held out; the epoch with the best sum of
            recalls on it is kept: of images and sentences, with beta 0 of sentences in two languages.
        validation_image_encoder: of the validation's images, where their vectors are in other files.
        recipe: its name in the model's folder.
        resume: continue an interrupted training, bit for bit on a CPU.
        replace: train anew where a model or a training lies in `out`.
        on_log: is called with the line of each epoch that `log.jsonl` gets.
        store: where image vectors are kept and found again.
        progress: is called with (what, done, total).

    Raises:
        InputError: data or options are invalid, or a loss that is no number.

    """
    require("a training", "torch", "torch")
    fit = fit or FitOptions(seed=options.seed)
    _check(options, image_encoder)
    train, held_out = divided(manifest, validation, options.seed)
    kept = open_store(store)

    def source(spec: EncoderLike) -> Source:
        name, encoder = encoders.image_encoder(spec, languages=options.languages)
        return Source(name, encoder, kept, progress)

    with running(out, fit, resume=resume, replace=replace, on_log=on_log, progress=progress) as run:
        images = held_out_images = None if image_encoder is None else source(image_encoder)
        other = validation_image_encoder
        if images is not None and other and other is not image_encoder:
            held_out_images = source(other)
        job = _Job(run, options, train, held_out, images, held_out_images)
        return job.trained(recipe)


def _check(options: MlmmeOptions, image_encoder: EncoderLike | None) -> None:
    if options.beta > 0 and image_encoder is None:
        raise InputError(
            f"beta is {options.beta:g}, so images count: name their encoder with --image-encoder, or train "
            "on sentences alone with --beta 0"
        )
    if options.beta == 0 and image_encoder is not None:
        raise InputError("with beta 0 no image counts: leave --image-encoder out, or give a beta above 0")


@dataclass(frozen=True)
class _Job:
    """One training: its options, its data, and the image encoders of both parts."""

    run: TrainingRun
    options: MlmmeOptions
    train: Manifest
    held_out: Manifest
    images: Source | None
    held_out_images: Source | None

    def trained(self, recipe: str) -> TrainedModel:
        """Pack the corpora, train, and write the model."""
        from xlingual.training.recipes.mlmme import GroupedVectors, MlmmeRecipe, build_model, corpus_vectors

        vocabularies, corpus, held_out = self._packed()
        model = build_model(self.options, vocabularies, corpus)
        settings = self.options.settings()
        compared = {
            "name": recipe,
            **settings,
            "data": self.train.digest,
            "validation": self.held_out.digest,
            "images": _identity(self.images),
            "validation images": _identity(self.held_out_images),
        }
        fitted = self.run.train(
            MlmmeRecipe(model, corpus, self.options),
            compared,
            lambda model, epoch: scored(corpus_vectors(model, held_out), self.images is not None),
        )
        found = corpus_vectors(fitted.model, held_out)
        equal = {
            view: GroupedVectors(np.ones((len(placed.group), 1), dtype=np.float32), placed.group)
            for view, placed in found.items()
        }
        scores = scored(found, self.images is not None)
        base = None
        if (source := self.images) is not None:
            identity = source.encoder.identity
            base = {"name": source.name, "identity": identity, "dim": corpus.picture_dim}
        texts = {tag: len(packed) for tag, packed in corpus.texts.items()}
        sizes = {"items": len(np.unique(held_out.groups))}
        if held_out.images is not None:
            sizes["pictures"] = len(held_out.images.vectors)
        images = None if corpus.images is None else len(corpus.images.vectors)
        folder = self.run.write(
            "mlmme",
            fitted,
            base,
            settings={"recipe": recipe, **settings},
            more={},
            scores={"score": scores.value, "scores": dict(scores.parts)},
            data=data_part(self.train, self.held_out, len(corpus), texts, images),
            vocabularies=vocabularies,
        )
        return TrainedModel.of(
            folder,
            fitted,
            scores,
            score=scores.value,
            mean_of=scores.mean_of,
            chance=scored(equal, self.images is not None),
            validated_on=sizes,
            texts=texts,
            images=images,
        )

    def _packed(self) -> tuple[dict[str, Vocabulary], Corpus, Corpus]:
        options, work = self.options, self.run.work
        reading = TextReading(options.pretokenized, options.max_length)
        self.run.report("counting words")
        vocabularies = count_vocabularies(
            self.train, options.languages, reading, options.threshold, options.most_words
        )
        self.run.report("reading texts and images")
        corpus = pack(work / "train", self.train, vocabularies, reading, self.images)
        words = {tag: vocabularies[tag] for tag in self._validated_languages()}
        try:
            held_out = pack(work / "validation", self.held_out, words, reading, self.held_out_images)
        except InputError as error:
            hint = ""  # given where the validation's images may have their vectors in another file
            one_source = self.images is not None and self.held_out_images is self.images
            if one_source and self.held_out.path != self.train.path:
                hint = "; another encoder of its images is named by --validation-image-encoder"
            raise InputError(f"validation: {error}{hint}") from error
        check_size(len(np.unique(held_out.groups)))
        if corpus.picture_dim != held_out.picture_dim:
            raise InputError(
                f"images have {corpus.picture_dim} dimensions in training and {held_out.picture_dim} in "
                "validation: name image encoders of one model"
            )
        return vocabularies, corpus, held_out

    def _validated_languages(self) -> list[str]:
        """Return the languages that the validation has texts of; a DataWarning names the others."""
        languages = self.options.languages
        found = [tag for tag in languages if tag in self.held_out.languages]
        if not found:
            raise InputError(
                f"the validation ({self.held_out.source}) has no texts in {listed(languages)}: choose other "
                "rows for --validation"
            )
        if missing := [tag for tag in languages if tag not in found]:
            warn(f"the validation has no texts in {listed(missing)}: epochs are compared without them")
        return found


def _identity(source: Source | None) -> str | None:
    return None if source is None else batch_identity(source.encoder)


def scored(found: Mapping[str, GroupedVectors], images: bool) -> ValidationScores:
    """Return the sums of recalls of vectors, and the mean of those that choose the epoch.

    A sum is R@1 + R@5 + R@10 both ways in per cent (at most 600): of images and each language, and of each
    pair of languages.
    """
    from xlingual.evaluation.both_ways import sum_of_recalls_between

    parts: dict[str, dict[str, float]] = {"image-sentence": {}, "sentence-sentence": {}}
    for (one, first), (other, second) in combinations(found.items(), 2):  # images are the last
        if np.isin(first.group, second.group).any():
            total = sum_of_recalls_between(first.vectors, first.group, second.vectors, second.group)
            if other == IMAGES:
                parts["image-sentence"][f"image-{one}"] = total
            else:
                parts["sentence-sentence"][f"{one}-{other}"] = total
    used = list(parts["image-sentence" if images else "sentence-sentence"].values())
    if not used:
        raise InputError(
            "the validation has nothing to rank: its items need "
            + ("texts and images" if images else "texts in two languages")
        )
    return ValidationScores(
        float(np.mean(used)), parts["image-sentence"] | parts["sentence-sentence"], len(used)
    )
