"""Training Triplet or TripletXL: titles and bodies become frozen vectors, these a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from xlingual import encoders
from xlingual.arrays import Vectors
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import batch_identity, fit_texts_for
from xlingual.encoders import Encoder, EncoderLike
from xlingual.encoders.runtime import require
from xlingual.errors import InputError
from xlingual.store import StoreLike, open_store
from xlingual.training.corpus import Source
from xlingual.training.options import FitOptions
from xlingual.training.recipe import OnLog, ValidationScores
from xlingual.training.recipes.triplet_options import FIT, TripletOptions
from xlingual.workflows.trained import TrainedModel, TrainingRun, check_size, data_part, divided, running

if TYPE_CHECKING:
    from xlingual.training.recipes.triplet import TextPairs


@takes_data("validation", leave=(int, float))
def train_triplet(
    manifest: ManifestLike,
    options: TripletOptions,
    out: str | Path,
    *,
    text_encoder: EncoderLike,
    fit: FitOptions | None = None,
    validation: ManifestLike | float = 0.1,
    resume: bool = False,
    replace: bool = False,
    on_log: OnLog | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
    **columns: Unpack[DataOptions],
) -> TrainedModel:
    """Train a model on the titles and bodies of a manifest and write it to the folder `out`.

    Args:
        manifest: texts with two further columns, such as title and body, or texts that are split in two.
        options: the model and the loss: with a beta above 0 those of TripletXL.
        out: the folder of the model; `model:DIR::SPEC` is then an encoder, SPEC being the text encoder.
        text_encoder: what makes the frozen vectors.
        fit: epochs, rate, device …; the paper's where it is left out (rate 0.01, 40 epochs).
        validation: a manifest, or the share of items that is held out; the epoch with the best sum of
            recalls on it is kept.
        resume: continue an interrupted training, bit for bit on a CPU.
        replace: train anew where a model or a training lies in `out`.
        on_log: is called with the line of each epoch that `log.jsonl` gets.
        store: where vectors of texts are kept and found again.
        progress: is called with (what, done, total).

    Raises:
        InputError: data or options are invalid, or a loss that is no number.

    """
    require("a training", "torch", "torch")
    fit = fit or FitOptions(seed=options.seed, **FIT)
    train, held_out = divided(manifest, validation, options.seed)
    languages = list(dict.fromkeys((*train.languages, *held_out.languages)))
    source = Source(*_encoder(text_encoder, train, languages), open_store(store), progress)
    with running(out, fit, resume=resume, replace=replace, on_log=on_log, progress=progress) as run:
        return _trained(run, train, held_out, options, source, languages)


def _encoder(spec: EncoderLike, train: Manifest, languages: Sequence[str]) -> tuple[str, Encoder]:
    """Return the name and the encoder; raise InputError where there are several or it cannot be used."""
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


def _trained(
    run: TrainingRun,
    train: Manifest,
    held_out: Manifest,
    options: TripletOptions,
    source: Source,
    languages: Sequence[str],
) -> TrainedModel:
    """Make the vectors, train, and write the model."""
    from xlingual.training.recipes.triplet import TripletRecipe, build_model, mapped_pairs, pack_pairs

    pairs = pack_pairs(run.work / "train", train, options, source)
    validation = pack_pairs(run.work / "validation", held_out, options, source)
    counts, items = pairs.counts(), len(np.unique(validation.item))
    check_size(items, validation.counts())
    settings = options.settings()
    compared = {
        "name": options.recipe,
        **settings,
        "data": train.digest,
        "validation": held_out.digest,
        "texts": batch_identity(source.encoder),
    }
    fitted = run.train(
        TripletRecipe(build_model(options, pairs.dim), pairs, options),
        compared,
        lambda model, epoch: scored(*mapped_pairs(model, validation), validation),
    )
    scores = scored(*mapped_pairs(fitted.model, validation), validation)
    # the vectors of a model that has learnt nothing: chance ranks them
    equal = np.ones((len(validation), 1), dtype=np.float32)
    identity = source.encoder.identity
    folder = run.write(
        "triplet",
        fitted,
        {"name": source.name, "identity": identity, "dim": pairs.dim, "languages": list(languages)},
        settings={"recipe": options.recipe, **settings},
        more={},
        scores={"score": scores.value, "scores": dict(scores.parts)},
        data=data_part(train, held_out, len(np.unique(pairs.item)), counts),
    )
    return TrainedModel.of(
        folder,
        fitted,
        scores,
        score=scores.value,
        mean_of=scores.mean_of,
        chance=scored(equal, equal, validation),
        validated_on={"items": items, "texts": len(validation)},
        texts=counts,
    )


def scored(title: Vectors, body: Vectors, pairs: TextPairs) -> ValidationScores:
    """Return how well titles and bodies of held-out texts find each other within each language, and the mean.

    `title` and `body` [n, d] are their vectors. For each language it is the sum of R@1, R@5 and R@10 both
    ways in per cent (at most 600), by the cosine of x_t and x_b; relevant are the texts of the same item. It
    does not see how languages lie to each other: no text is known to be the translation of another.
    """
    from xlingual.evaluation.both_ways import sum_of_recalls_between

    if not (np.isfinite(title).all() and np.isfinite(body).all()):
        return ValidationScores(math.nan, {})  # ranks of vectors that are no numbers say nothing
    parts = {}
    for code, tag in enumerate(pairs.languages):
        rows = np.flatnonzero(pairs.language == code)
        item = pairs.item[rows]
        parts[tag] = sum_of_recalls_between(title[rows], item, body[rows], item)
    return ValidationScores(float(np.mean(list(parts.values()))), parts, len(parts))
