"""The inputs of a case study of MLMME, checked before any training: files, rows, lines, languages, images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest, read_reference
from xlingual.data.sentence_pairs import read_sentence_pairs
from xlingual.embed.sides import image_vectors
from xlingual.encoders.decoding import broken, counted
from xlingual.errors import InputError, MissingExtraError, listed
from xlingual.nbest.features import rows_of_sentences
from xlingual.nbest.lists import NBestLists, check_new_labels, read_aligned, read_nbest
from xlingual.results.mlmme_study import VSE
from xlingual.training.study_requests import RANKING, RERANKING, STS
from xlingual.workflows.mlmme_study_data import StudyParts
from xlingual.workflows.mlmme_study_models import Planned
from xlingual.workflows.mlmme_study_reranking import SCORE, TEST, Lists, Part, adds

_MEND = "mend them, or choose other rows"


def read_by(
    plans: Sequence[Planned], tables: Sequence[str], sts_language: str, lists: Lists | None
) -> list[Planned]:
    """Return the models that a table reads; the others need no training."""

    def read(plan: Planned) -> bool:
        return (
            (RANKING in tables and plan.beta > 0)
            or (STS in tables and sts_language in plan.languages)
            or (RERANKING in tables and lists is not None and any(adds(lists, plan)))
        )

    return [plan for plan in plans if read(plan)]


def check_ranking(parts: StudyParts) -> None:
    """Raise InputError where Table 1 cannot be made: a language without texts, images that cannot be read."""
    test = parts.test
    assert test is not None
    rows = []
    for tag in parts.languages:
        try:
            rows.append(test.rows_of(tag))
        except InputError as error:
            raise InputError(f"--test: {error}") from error
    shown = np.sort(np.concatenate(rows))
    shown = shown[test.image[shown] >= 0] if (test.image[shown] >= 0).any() else shown
    spec = parts.test_image_encoder or parts.image_encoder
    _check_images(test, shown, spec, parts, "--test", "--test-image-encoder")


def check_validation(parts: StudyParts, plans: Sequence[Planned]) -> None:
    """Raise InputError where the validation lacks the one language of a model."""
    for plan in plans:
        if plan.kind == VSE and plan.languages[0] not in parts.validation.languages:
            raise InputError(
                f"the validation ({parts.validation.source}) has no texts in {plan.languages[0]!r}, by which "
                f"the epoch of {plan.name} is chosen: choose other rows for --validation, or leave the "
                "language out of --languages"
            )


def check_sts(files: Sequence[object], language: str, languages: Sequence[str]) -> None:
    """Raise InputError where Table 2 cannot be made."""
    _check_known("--sts-language", language, languages)
    read_sentence_pairs(list(files), None)  # type: ignore[arg-type]  # paths


def check_reranking(lists: Lists, parts: StudyParts, plans: Sequence[Planned]) -> list[str]:
    """Raise InputError where Table 3 cannot be made; return a sentence about each model that it lacks."""
    try:
        import sacrebleu  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("measuring translations", "mt") from error
    for what in ("source", "images"):
        if (getattr(lists.tune, what) is None) != (getattr(lists.test, what) is None):
            raise InputError(f"--tune-{what} and --test-{what} belong together: give both or none")
    if lists.tune.source is None and lists.tune.images is None:
        raise InputError(
            "nothing to compare translations with: give --tune-source and --test-source, or "
            "--tune-images and --test-images, or both"
        )
    if lists.tune.source is not None:
        _check_known("--source-language", lists.source_language, parts.languages)
    _check_known("--target-language", lists.target_language, parts.languages)
    tuned, measured = (_check_part(name, part, parts) for name, part in lists.parts)
    if lists.own_features == "all" and (lacking := [n for n in tuned.names if n not in measured.names]):
        raise InputError(
            f"--own-features all: {lists.test.nbest} lacks {listed(lacking)}, which {lists.tune.nbest} has: "
            "give lists of one system"
        )
    if not any(any(adds(lists, plan)) for plan in plans):
        raise InputError(
            "no model has something to add to the lists: give --tune-source and --test-source, or a --beta "
            "above 0"
        )
    return [
        f"Table 3 lacks {plan.name}: it compares translations with images, and no images of the sentences "
        "are given"
        for plan in plans
        if plan.kind == VSE and lists.target_language in plan.languages and not any(adds(lists, plan))
    ]


def _check_known(option: str, language: str, languages: Sequence[str]) -> None:
    if language not in languages:
        raise InputError(
            f"{option} is {language}, and the models know {listed(languages)}: give one of these, or "
            "train on it too"
        )


def _check_part(name: str, part: Part, parts: StudyParts) -> NBestLists:
    """Return the lists of a part; raise InputError where what belongs to them is not as long as they are."""
    if not part.references:
        raise InputError(f"--{name}-references is missing: translations are measured by them")
    lists = read_nbest(part.nbest)
    check_new_labels([SCORE], [label for label, _ in lists.groups])
    for path in part.references:
        read_aligned(path, f"--{name}-references", len(lists), part.nbest)
    if part.source is not None:
        read_aligned(part.source, f"--{name}-source", len(lists), part.nbest)
    if part.images is not None:
        if part.image_encoder is None:
            raise InputError("--tune-images and --test-images need --image-encoder")
        option = f"--{name}-images"
        try:
            manifest = read_reference(part.images)
            rows = rows_of_sentences(manifest, len(lists))
        except InputError as error:
            raise InputError(f"{option}: {error}") from error
        encoder = "--rerank-image-encoder" if name == TEST else "--tune-image-encoder"
        _check_images(manifest, rows, part.image_encoder, parts, option, encoder)
    return lists


def _check_images(
    manifest: Manifest, rows: Ints, spec: str | None, parts: StudyParts, data: str, option: str
) -> None:
    """Raise InputError where images of rows cannot be read, or have other dimensions than those trained on.

    Vectors that lie in a file belong to the manifest by their number; of other encoders none is run.
    """
    assert spec is not None
    name, encoder = encoders.image_encoder(spec, languages=parts.languages)
    try:
        if encoder.opens_images:
            _, places = np.unique(manifest.image[rows], return_index=True)
            images = manifest.images(rows[np.sort(places)])
            if reasons := broken(images):
                none = int((manifest.image[rows] < 0).sum())
                first = next(iter(reasons.values()))
                raise InputError(counted(first, len(reasons), images, _MEND, without=none))
            return
        dim = image_vectors(manifest, name, encoder, rows[:1]).shape[1]
    except InputError as error:
        hint = "" if encoder.opens_images else f"; {option} names other vectors"
        raise InputError(f"{data}: {error}{hint}") from error
    if parts.image_encoder is None or spec == parts.image_encoder:
        return
    name, base = encoders.image_encoder(parts.image_encoder, languages=parts.languages)
    if base.opens_images:
        return
    own = image_vectors(parts.train, name, base, parts.train.rows_of(parts.languages[0])[:1]).shape[1]
    if own != dim:
        raise InputError(
            f"{option} gives images of {dim:,} dimensions, and --image-encoder, by which models are trained, "
            f"{own:,}: name vectors of one network"
        )
