"""`xlingual casestudy mlmme`: train VSE and MLMME over a sweep of beta, and make the paper's three tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from xlingual.cli import interruption, screen
from xlingual.cli.checks import check_folder, named_folder
from xlingual.cli.from_request import command
from xlingual.cli.opening import columns, store_of
from xlingual.cli.outcome import say_written
from xlingual.errors import InputError
from xlingual.requests import defaults, signed, values
from xlingual.requests.record import leaves
from xlingual.requests.shared import Columns
from xlingual.training.recipes.mlmme_options import FIT_PRESETS, PRESETS
from xlingual.training.study_requests import SMALL, MlmmeStudyRequest

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.workflows.mlmme_study_data import StudyParts
    from xlingual.workflows.mlmme_study_reranking import Lists

# options that something alone reads
_OF_MANIFEST = (
    "image_encoder", "split", "rows", "test", "test_image_encoder", "validation", "validation_image_encoder",
    *leaves(Columns),
)  # fmt: skip
_OF_BUILT_IN_LISTS = ("own_features", "tunings")
_OF_LISTS = (*_OF_BUILT_IN_LISTS, "source_language", "target_language", "rerank_image_encoder")
_LISTS = "n-best lists: give them with --tune-nbest and --test-nbest"


def _presets(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the recipe sets, and the small sizes of built-in data."""
    recipe = given.get("recipe", "paper")
    small = {} if given.get("manifest") is not None else SMALL
    return {**PRESETS[recipe], **FIT_PRESETS[recipe], **small}


@command(MlmmeStudyRequest, presets=_presets)
def mlmme(request: MlmmeStudyRequest) -> None:
    """Train VSE (one language) and MLMME (several) over a sweep of beta, and make the MLMME paper's tables.

    Table 1 is image–sentence ranking, Table 2 textual similarity (--sts), Table 3 the re-ranking of
    translations (--tune-nbest, --test-nbest …), each over several trainings. Without MANIFEST everything
    runs on built-in data, with small sizes. Models are kept in DIR: the same command again uses them, and
    goes on where it was interrupted.
    """
    from xlingual.workflows.mlmme_study import run_mlmme_study

    out = named_folder(request.output.out)
    check_folder(out)
    settings = request.model.settings()
    betas = settings.pop("beta")
    settings.pop("seed")
    with (
        interruption.goes_on(out),
        _store(request) as store,
        screen.warnings_as_lines(),
        screen.progress(screen.silent(request.output)) as progress,
    ):
        progress("reading the data", 0, 1)
        parts, sts, lists = _data(request, out, progress)
        study = run_mlmme_study(
            parts,
            out,
            betas=betas,
            trainings=request.trainings,
            recipe=request.recipe,
            settings=settings,
            fit=request.fit,
            tables=request.tables,
            sts_files=sts,
            sts_language=request.sts_language,
            lists=lists,
            replace=request.force,
            store=store,
            progress=progress,
        )
        study = signed(study, request)
        study.write(out)
    screen.show(study, request.output)
    say_written(study, request.output, study.file)


@contextmanager
def _store(request: MlmmeStudyRequest) -> Iterator[Any]:
    """Give the store; where none is wanted one for the study alone, since all models read the same images."""
    if (store := store_of(request.keeping)) is not None:
        yield store
        return
    with TemporaryDirectory() as folder:
        yield folder


def _data(request: MlmmeStudyRequest, out: Path, progress: Any) -> tuple[StudyParts, Any, Lists | None]:  # noqa: ANN401
    """Return what is trained on and evaluated: the user's, or built-in data."""
    from xlingual.workflows.mlmme_study_data import LANGUAGES, built_in

    if request.data.manifest is not None:
        _refuse(request, ("items",), "built-in scenes: leave MANIFEST out")
        _refuse(request, () if _names_lists(request) else _OF_LISTS, _LISTS)
        parts = _parts(request)
        return parts, request.sts, _lists(request, parts.languages)
    _refuse(request, _OF_MANIFEST, "MANIFEST: give it")
    if not _names_lists(request):
        _refuse(request, [name for name in _OF_LISTS if name not in _OF_BUILT_IN_LISTS], _LISTS)
    languages = request.languages or LANGUAGES
    if len(languages) < 2:
        raise InputError("--languages: give two or more, such as en,de")
    parts, pairs, lists = built_in(out / "data", request.data.items, languages, progress)
    if not any(beta > 0 for beta in request.model.beta):
        parts = replace(parts, image_encoder=None)
    if _names_lists(request):
        return parts, request.sts or (pairs,), _lists(request, languages)
    own = {name: getattr(request.lists, name) for name in _OF_BUILT_IN_LISTS}
    return parts, request.sts or (pairs,), replace(lists, **own)


def _refuse(request: MlmmeStudyRequest, names: Iterable[str], about: str) -> None:
    """Raise InputError for an option that was given, and that nothing here would read."""
    usual, given, known = defaults(type(request)), values(request), leaves(type(request))
    for name in names:
        if given[name] != usual[name]:
            raise InputError(f"{known[name].names[0]} is about {about}, or leave {known[name].names[0]} out")


def _names_lists(request: MlmmeStudyRequest) -> bool:
    """Return whether n-best lists are given."""
    lists = request.lists
    names = lists.__struct_fields__
    return any(getattr(lists, name) for name in names if name.startswith(("tune_", "test_")))


def _parts(request: MlmmeStudyRequest) -> StudyParts:
    from xlingual.data.manifest import Manifest
    from xlingual.data.samples import hold_out
    from xlingual.workflows.mlmme_study_data import StudyParts

    data, reading = request.data, columns(request.data)
    assert data.manifest is not None
    seeing = any(beta > 0 for beta in request.model.beta)
    wanted = seeing if request.tables is None else "ranking" in request.tables
    test = _part(request.test, request) if wanted else None
    split = data.split
    if split is None and data.rows is None and wanted and request.test == "test":
        split = "train"  # the other split of the same file
    train = Manifest.read(data.manifest, **reading, split=split, rows=data.rows)
    try:
        share = float(request.validated.validation)
    except ValueError:
        validation = _part(str(request.validated.validation), request)
    else:
        if not 0 < share < 1:
            raise InputError(f"--validation {share:g}: a share is between 0 and 1, such as 0.1")
        train, validation = hold_out(train, share, request.fit.seed)
    return StudyParts(
        train,
        validation,
        test,
        tuple(request.languages or train.languages),
        request.image_encoder,
        request.validation_image_encoder,
        request.test_image_encoder,
    )


def _part(reference: str, request: MlmmeStudyRequest) -> Manifest:
    """Return the rows that a split of MANIFEST, or another manifest, names."""
    from xlingual.data.manifest import Manifest, read_reference

    reading = columns(request.data)
    if "#" in reference or Path(reference).exists():
        return read_reference(reference, **reading)
    manifest = request.data.manifest
    assert manifest is not None
    return Manifest.read(manifest, **reading, split=reference)


def _lists(request: MlmmeStudyRequest, languages: tuple[str, ...]) -> Lists | None:
    """Return the n-best lists that are given, None where none is."""
    from xlingual.workflows.mlmme_study_reranking import Lists, Part

    given = request.lists
    if not _names_lists(request):
        return None
    if given.tune_nbest is None or given.test_nbest is None:
        raise InputError("--tune-nbest and --test-nbest belong together: weights are tuned on the first")
    if len(languages) < 2:
        raise InputError("--languages: give two or more, such as en,de")
    tune = Part(
        given.tune_nbest, given.tune_references, given.tune_source, given.tune_images,
        given.tune_image_encoder or request.image_encoder,
    )  # fmt: skip
    test = Part(
        given.test_nbest, given.test_references, given.test_source, given.test_images,
        given.rerank_image_encoder or request.image_encoder,
    )  # fmt: skip
    return Lists(
        tune,
        test,
        given.source_language or languages[0],
        given.target_language or languages[1],
        given.own_features,
        given.tunings,
    )
