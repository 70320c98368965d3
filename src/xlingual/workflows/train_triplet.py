"""Training Triplet or TripletXL: titles and bodies become frozen vectors, these a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual import encoders
from xlingual.arrays import Vectors
from xlingual.data.manifest import Manifest
from xlingual.embed import batch_identity, fit_texts_for
from xlingual.encoders import Encoder, EncoderLike
from xlingual.encoders.torch_runtime import require
from xlingual.errors import InputError
from xlingual.files import make_folder
from xlingual.models.card import write_card
from xlingual.models.folder import write_model
from xlingual.store import StoreLike, open_store
from xlingual.training.options import FitOptions
from xlingual.training.recipes.text_pairs import TextPairs, TextSource, pack_pairs
from xlingual.training.recipes.triplet_options import FIT, TripletOptions
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
    from xlingual.models.triplet import Triplet
    from xlingual.training.loop import Fitted, Scores
    from xlingual.training.sinks import Sink


def train_triplet(
    manifest: Manifest,
    options: TripletOptions,
    out: str | Path,
    *,
    text_encoder: EncoderLike,
    fit: FitOptions | None = None,
    validation: Manifest | float = 0.1,
    recipe: str | None = None,
    resume: bool = False,
    replace: bool = False,
    sinks: Sequence[Sink] = (),
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> Trained:
    """Train a model on the titles and bodies of a manifest and write it to the folder `out`.

    Args:
        manifest: texts with two further columns, such as title and body, or texts that are split in two.
        options: the model and the loss; `TripletOptions.preset` makes those of a named recipe.
        out: the folder of the model; `model:DIR::SPEC` is then an encoder, SPEC being the text encoder.
        text_encoder: what makes the frozen vectors.
        fit: epochs, rate, device …; the paper's where it is left out (rate 0.01, 40 epochs).
        validation: a manifest, or the share of items that is held out; the epoch with the best sum of
            recalls on it is kept.
        recipe: what it is called in the model's folder: "triplet", or "triplet-xl" where beta is above 0.
        resume: continue an interrupted training, bit for bit on a CPU.
        replace: train anew where a model or a training lies in `out`.
        sinks: where the log goes besides `log.jsonl`.
        store: where vectors of texts are kept and found again.
        progress: is told (what, done, of all).

    Raises:
        InputError: data or options are not what they must be, or a loss that is no number.

    """
    require("a training", "torch", "torch")
    fit = fit or FitOptions(seed=options.seed, **FIT)
    recipe = recipe or ("triplet-xl" if options.beta > 0 else "triplet")
    train, held = divided(manifest, validation, options.seed)
    opened = open_store(store)
    source = TextSource(*_encoder(text_encoder, train, held), opened, progress)
    check_run(Path(out), fit, resume=resume, replace=replace)
    folder = make_folder(out)
    try:
        job = _Job(train, held, options, recipe, source, folder)
        return job.run(fit, resume=resume, replace=replace, sinks=sinks)
    finally:
        clean(folder)


def _encoder(spec: EncoderLike, train: Manifest, held: Manifest) -> tuple[str, Encoder]:
    """Return the name and the encoder; raise InputError where it is several or cannot be used."""
    languages = _languages(train, held)
    found = encoders.text_encoders(spec, languages=languages, fit_texts=fit_texts_for(train))
    if len(found) > 1:
        raise InputError(f"a model stands on one text encoder: {spec} stands for {len(found)}")
    name, encoder = next(iter(found.items()))
    if encoder.depends_on_batch:
        raise InputError(
            f"text encoder {name!r} gives a text other vectors among other texts, so that nothing can be "
            "trained on them: fit it on a fixed set, with fit=MANIFEST#SPLIT"
        )
    encoder.check_languages(languages)
    return name, encoder


def _languages(train: Manifest, held: Manifest) -> list[str]:
    """Return the languages that the encoder is made for."""
    return list(dict.fromkeys((*train.languages, *held.languages)))


@dataclass
class _Job:
    """One training: its data, its options, and the folder of the model."""

    train: Manifest
    held: Manifest
    options: TripletOptions
    recipe: str
    source: TextSource
    folder: Path

    def run(self, fit: FitOptions, *, resume: bool, replace: bool, sinks: Sequence[Sink]) -> Trained:
        """Make the vectors, train, and write the model."""
        from xlingual.training.loop import fit as fit_model
        from xlingual.training.recipes.triplet import TripletRecipe, build_model

        pairs = pack_pairs(self.folder / WORK / "train", self.train, self.options, self.source)
        held = pack_pairs(self.folder / WORK / "validation", self.held, self.options, self.source)
        check_size(len(np.unique(held.item)), held.counts())
        model = build_model(self.options, pairs.dim, self.recipe)
        fitted = fit_model(
            TripletRecipe(model, pairs, self.options, self.folder),
            fit,
            self.folder,
            settings=self._settings(),
            validate=lambda module, epoch: validated(module, held),
            sinks=sinks,
            resume=resume,
            replace=replace,
            progress=self.source.progress,
        )
        scores, chance = validated(fitted.model, held), by_chance(held)
        config = self._config(fitted, fit, scores, pairs)
        written = write_card(write_model(self.folder, config, fitted.model.state_dict()))
        sizes = {"items": len(np.unique(held.item)), "texts": len(held)}
        return Trained.of(written, fitted, scores, chance, sizes, pairs.counts())

    def _settings(self) -> dict[str, Any]:
        """Return all that must be equal where a training is continued."""
        return {
            "name": self.recipe,
            **self.options.settings(),
            "data": self.train.digest,
            "validation": self.held.digest,
            "texts": batch_identity(self.source.encoder, store=self.source.store),
        }

    def _config(self, fitted: Fitted, fit: FitOptions, scores: Scores, pairs: TextPairs) -> dict[str, Any]:
        """Return what `config.json` says of the model."""
        model: Triplet = fitted.model
        encoder = self.source.encoder
        return {
            "kind": "triplet",
            "model": model.config.to_dict(),
            "base": {
                "name": self.source.name,
                "identity": encoder.identity,
                "dim": pairs.dim,
                "languages": _languages(self.train, self.held),
            },
            "training": training_part(self.recipe, self.options.settings(), fit, fitted, scores),
            "data": data_part(self.train, self.held, len(np.unique(pairs.item)), pairs.counts()),
            "environment": environment(str(next(model.parameters()).device)),
        }


def validated(model: Triplet, pairs: TextPairs) -> Scores:
    """Return how well titles and bodies of held-out texts find each other within each language, and the mean.

    For each language the sum of R@1, R@5 and R@10 both ways in per cent (at most 600), by the cosine of x_t
    and x_b; relevant is what is of the same item. It is blind to how languages lie to each other, since no
    text is known to mean what one in another language does.
    """
    from xlingual.training.recipe import Scores
    from xlingual.training.recipes.neighbour_index import mapped_pairs

    title, body = mapped_pairs(model, pairs)
    if not (np.isfinite(title).all() and np.isfinite(body).all()):
        return Scores(math.nan, {})  # ranks of vectors that are no numbers say nothing
    return _scored(title, body, pairs)


def by_chance(pairs: TextPairs) -> Scores:
    """Return the scores of a model that knows nothing: all vectors are equal, so that chance ranks them."""
    equal = np.ones((len(pairs), 1), dtype=np.float32)
    return _scored(equal, equal, pairs)


def _scored(title: Vectors, body: Vectors, pairs: TextPairs) -> Scores:
    """Return the sums of recalls of vectors [n, d] of titles and bodies, and their mean over languages."""
    from xlingual.evaluation.image_sentence import sum_of_recalls_between
    from xlingual.training.recipe import Scores

    parts = {}
    for code, tag in enumerate(pairs.languages):
        rows = np.flatnonzero(pairs.language == code)
        item = pairs.item[rows]
        parts[tag] = sum_of_recalls_between(title[rows], item, body[rows], item)
    return Scores(float(np.mean(list(parts.values()))), parts, len(parts))
