"""Training MLMME or VSE: a manifest becomes a corpus, the corpus a model, validated by the sum of recalls."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual import encoders
from xlingual.data.manifest import Manifest
from xlingual.embed import batch_identity
from xlingual.encoders import EncoderLike
from xlingual.encoders.torch_runtime import require
from xlingual.errors import DataWarning, InputError, listed
from xlingual.files import make_folder
from xlingual.models.card import write_card
from xlingual.models.folder import write_model
from xlingual.store import Store, StoreLike, open_store
from xlingual.training.options import FitOptions
from xlingual.training.packing import PictureSource, Reading, count_vocabularies, pack
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.workflows.held_out import check_size, divided
from xlingual.workflows.trained import (
    WORK,
    Trained,
    check_run,
    clean,
    data_part,
    environment,
    training_part,
)

if TYPE_CHECKING:
    from xlingual.embed.encoding import Progress
    from xlingual.models.mlmme import Mlmme
    from xlingual.models.vocabulary import Vocabulary
    from xlingual.training.corpus import Corpus
    from xlingual.training.loop import Fitted, Scores
    from xlingual.training.recipes.mlmme_vectors import CorpusVectors
    from xlingual.training.sinks import Sink

SELECTIONS = ("auto", "image-sentence", "sentence-sentence", "both")


def train_mlmme(
    manifest: Manifest,
    options: MlmmeOptions,
    out: str | Path,
    *,
    fit: FitOptions | None = None,
    image_encoder: EncoderLike | None = None,
    validation: Manifest | float = 0.1,
    validation_image_encoder: EncoderLike | None = None,
    select: str = "auto",
    recipe: str = "mlmme",
    resume: bool = False,
    replace: bool = False,
    sinks: Sequence[Sink] = (),
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> Trained:
    """Train a model on a manifest's texts and pictures and write it to the folder `out`.

    Args:
        manifest: items with texts in the languages of `options`, and with pictures unless its beta is 0.
        options: the model and the loss; `MlmmeOptions.preset` makes those of a named recipe.
        out: the folder of the model; `model:DIR` is then an encoder.
        fit: epochs, rate, patience, device …
        image_encoder: what makes vectors of pictures; may be left out only with beta 0.
        validation: a manifest, or the share of items that is held out; the epoch with the best sum of
            recalls on it is kept.
        validation_image_encoder: of the validation's pictures where it differs (files of vectors of its own).
        select: what the sum of recalls is taken over: "image-sentence" (default where pictures count),
            "sentence-sentence" (else), or "both".
        recipe: what it is called in the model's folder.
        resume: continue an interrupted training, bit for bit on a CPU.
        replace: train anew where a model or a training lies in `out`.
        sinks: where the log goes besides `log.jsonl`.
        store: where image vectors are kept and found again.
        progress: is told (what, done, of all).

    Raises:
        InputError: data or options are not what they must be, or a loss that is no number.

    """
    require("a training", "torch", "torch")
    fit = fit or FitOptions(seed=options.seed)
    _check(options, image_encoder, select)
    train, held = divided(manifest, validation, options.seed)
    check_run(Path(out), fit, resume=resume, replace=replace)
    folder = make_folder(out)
    job = _Job(train, held, options, folder / WORK, open_store(store), progress)
    if options.beta > 0:
        assert image_encoder is not None
        job.look(image_encoder, validation_image_encoder or image_encoder)
    try:
        return job.run(fit, recipe, chosen(select, options), resume=resume, replace=replace, sinks=sinks)
    finally:
        clean(folder)


def chosen(select: str, options: MlmmeOptions) -> str:
    """Return by what the epoch is chosen: "auto" is the pictures where they count."""
    if select != "auto":
        return select
    return "image-sentence" if options.beta > 0 else "sentence-sentence"


def _check(options: MlmmeOptions, image_encoder: EncoderLike | None, select: str) -> None:
    if options.beta > 0 and image_encoder is None:
        raise InputError(
            f"beta is {options.beta:g}, so pictures count: name their encoder with --image-encoder, or train "
            "on sentences alone with --beta 0"
        )
    if options.beta == 0 and image_encoder is not None:
        raise InputError("with beta 0 no picture counts: leave --image-encoder out, or give a beta above 0")
    if select not in SELECTIONS:
        raise InputError(f"select {select!r} is unknown: choose one of {listed(SELECTIONS)}")
    if select in ("image-sentence", "both") and options.beta == 0:
        raise InputError(f"select {select} needs pictures, and beta is 0: leave it out")
    if select in ("sentence-sentence", "both") and len(options.languages) == 1:
        raise InputError(f"select {select} needs two languages at least: leave it out")


@dataclass
class _Job:
    """One training: its data, its options, and where the corpus is packed meanwhile."""

    train: Manifest
    held: Manifest
    options: MlmmeOptions
    work: Path
    store: Store | None
    progress: Progress | None
    pictures: PictureSource | None = None
    held_pictures: PictureSource | None = None

    def look(self, train: EncoderLike, held: EncoderLike) -> None:
        """Take the encoders of the pictures."""
        self.pictures = self._source(train)
        self.held_pictures = self.pictures if held is train else self._source(held)

    def _source(self, spec: EncoderLike) -> PictureSource:
        name, encoder = encoders.image_encoder(spec, languages=self.options.languages)
        return PictureSource(name, encoder, self.store, self.progress)

    def run(
        self,
        fit: FitOptions,
        recipe: str,
        select: str,
        *,
        resume: bool,
        replace: bool,
        sinks: Sequence[Sink],
    ) -> Trained:
        """Pack the corpora, train, and write the model."""
        from xlingual.training.loop import fit as fit_model
        from xlingual.training.recipes.mlmme import MlmmeRecipe, build_model
        from xlingual.training.recipes.mlmme_vectors import corpus_vectors

        vocabularies, corpus, held = self._packed()
        made = MlmmeRecipe(build_model(self.options, vocabularies, corpus), corpus, self.options)
        fitted = fit_model(
            made,
            fit,
            self.work.parent,
            settings=self._settings(recipe, select),
            validate=lambda model, epoch: validated(model, held, select),
            sinks=sinks,
            resume=resume,
            replace=replace,
            progress=self.progress,
        )
        found = corpus_vectors(fitted.model, held)
        scores, chance = scored(found, select), scored(found.all_equal(), select)
        config = self._config(fitted, fit, recipe, select, scores, corpus)
        weights = fitted.model.state_dict()
        written = write_card(write_model(self.work.parent, config, weights, vocabularies))
        texts = {tag: len(packed) for tag, packed in corpus.texts.items()}
        pictures = None if corpus.pictures is None else len(corpus.pictures.vectors)
        return Trained.of(written, fitted, scores, chance, _sizes(held), texts, pictures)

    def _packed(self) -> tuple[dict[str, Vocabulary], Corpus, Corpus]:
        options = self.options
        reading = Reading(options.pretokenized, options.max_length)
        self._tell("counting words")
        vocabularies = count_vocabularies(
            self.train, options.languages, reading, options.threshold, options.most_words
        )
        self._tell("reading texts and pictures")
        corpus = pack(self.work / "train", self.train, vocabularies, reading, self.pictures)
        validated = self._validated_languages()
        words = {tag: vocabularies[tag] for tag in validated}
        try:
            held = pack(self.work / "validation", self.held, words, reading, self.held_pictures)
        except InputError as error:
            raise InputError(f"validation: {error}{self._hint()}") from error
        check_size(len(np.unique(held.groups)))
        if corpus.picture_dim != held.picture_dim:
            raise InputError(
                f"pictures have {corpus.picture_dim} dimensions in training and {held.picture_dim} in "
                "validation: name image encoders of one model"
            )
        return vocabularies, corpus, held

    def _validated_languages(self) -> list[str]:
        """Return the languages that the validation has texts of; the others are told (DataWarning)."""
        languages = self.options.languages
        found = [tag for tag in languages if tag in self.held.languages]
        if not found:
            raise InputError(
                f"the validation ({self.held.source}) has no texts in {listed(languages)}: choose other rows "
                "for --validation"
            )
        if missing := [tag for tag in languages if tag not in found]:
            warnings.warn(
                f"the validation has no texts in {listed(missing)}: epochs are compared without them",
                DataWarning,
                stacklevel=4,
            )
        return found

    def _hint(self) -> str:
        """Return what helps where the validation's pictures have a file of vectors of their own."""
        if (
            self.pictures is None
            or self.held_pictures is not self.pictures
            or self.held.path == self.train.path
        ):
            return ""
        return "; another encoder of its pictures is named by --validation-image-encoder"

    def _tell(self, what: str) -> None:
        if self.progress is not None:
            self.progress(what, 0, 1)

    def _settings(self, recipe: str, select: str) -> dict[str, Any]:
        """Return all that must be equal where a training is continued."""
        return {
            "name": recipe,
            **self.options.settings(),
            "data": self.train.digest,
            "validation": self.held.digest,
            "select": select,
            "images": self._identity(self.pictures),
            "validation images": self._identity(self.held_pictures),
        }

    def _identity(self, source: PictureSource | None) -> str | None:
        return None if source is None else batch_identity(source.encoder, store=self.store)

    def _config(
        self,
        fitted: Fitted,
        fit: FitOptions,
        recipe: str,
        select: str,
        scores: Scores,
        corpus: Corpus,
    ) -> dict[str, Any]:
        """Return what `config.json` says of the model."""
        model: Mlmme = fitted.model
        source, dim = self.pictures, corpus.picture_dim
        base = None
        if source is not None and dim is not None:
            base = {"name": source.name, "identity": source.encoder.identity, "dim": dim}
        return {
            "kind": "mlmme",
            "model": model.config.to_dict(),
            "base": base,
            "training": training_part(
                recipe, self.options.settings(), fit, fitted, scores, {"select": select}
            ),
            "data": data_part(
                self.train,
                self.held,
                len(corpus),
                {tag: len(texts) for tag, texts in corpus.texts.items()},
                None if corpus.pictures is None else len(corpus.pictures.vectors),
            ),
            "environment": environment(str(next(model.parameters()).device)),
        }


def validated(model: Mlmme, corpus: Corpus, select: str) -> Scores:
    """Return the sums of recalls of a model on held-out items, and their mean over what it is chosen by.

    A sum is R@1 + R@5 + R@10 both ways in per cent (at most 600): of pictures and each language, and of each
    pair of languages.
    """
    from xlingual.training.recipes.mlmme_vectors import corpus_vectors

    return scored(corpus_vectors(model, corpus), select)


def scored(found: CorpusVectors, select: str) -> Scores:
    """Return the sums of recalls of vectors, and their mean over what the model is chosen by."""
    from xlingual.training.recipe import Scores

    parts = {
        "image-sentence": _image_sentence(found),
        "sentence-sentence": _sentence_sentence(found),
    }
    used = [part for kind, scores in parts.items() if select in (kind, "both") for part in scores.values()]
    if not used:
        raise InputError(
            f"the validation has nothing to rank by {select}: its items need "
            f"{'texts and pictures' if select == 'image-sentence' else 'texts in two languages'}"
        )
    named = {name: value for scores in parts.values() for name, value in scores.items()}
    return Scores(float(np.mean(used)), named, len(used))


def _sizes(held: Corpus) -> dict[str, int]:
    """Return how much was held out."""
    sizes = {"items": len(np.unique(held.groups))}
    return sizes if held.pictures is None else sizes | {"pictures": len(held.pictures.vectors)}


def _image_sentence(found: CorpusVectors) -> dict[str, float]:
    from xlingual.evaluation.image_sentence import sum_of_recalls_between

    pictures = found.pictures
    if pictures is None:
        return {}
    return {
        f"image-{tag}": sum_of_recalls_between(texts.vectors, texts.group, pictures.vectors, pictures.group)
        for tag, texts in found.texts.items()
        if np.isin(texts.group, pictures.group).any()
    }


def _sentence_sentence(found: CorpusVectors) -> dict[str, float]:
    from xlingual.evaluation.image_sentence import sum_of_recalls_between

    return {
        f"{one}-{other}": sum_of_recalls_between(first.vectors, first.group, second.vectors, second.group)
        for (one, first), (other, second) in combinations(found.texts.items(), 2)
        if np.isin(first.group, second.group).any()
    }
