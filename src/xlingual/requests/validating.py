"""Requests of `validate`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from msgspec import field

from xlingual.errors import InputError
from xlingual.requests.ranking import Ranking
from xlingual.requests.reading import checked, made
from xlingual.requests.record import Request, argument, defaults, leaves, option, values
from xlingual.requests.shared import (
    Highlight,
    ImageEncoding,
    Keeping,
    ManifestOptions,
    Output,
    Samples,
    SeedShown,
    TextEncoders,
)
from xlingual.tasks import TASKS


class ManySamples(Samples, frozen=True, kw_only=True):
    """Languages and samples of a validation: 25 samples by default."""

    seeds: Annotated[
        int | None, option("Number of samples drawn.", otherwise="25, or those of --sample FILE")
    ] = None


class ValidateBackretrievalRequest(Request, frozen=True, kw_only=True):
    """Check how well Backretrieval agrees with true retrieval."""

    command = "validate backretrieval"
    refused = TASKS["distance-correlation"].refused()

    data: ManifestOptions
    text_encoders: TextEncoders
    keeping: Keeping
    sampling: ManySamples
    images: ImageEncoding
    measure: Annotated[str, option("Measure R@k of BkR and XLR.", metavar="NAME")] = "R@10"
    both_directions: Annotated[bool, option("Also validate the reverse of each language pair.")] = False
    family: Annotated[
        str | None,
        option(
            "Treat encoders of one family as one; REGEX, or its first group, matches the name of the family.",
            metavar="REGEX",
        ),
    ] = None
    degrade: Annotated[
        str | None,
        option(
            "Repeat with weakened image vectors: 'dims=2,8,32;noise=0.5,1;shuffle'.",
            names=("--degrade-images",),
            metavar="LEVELS",
        ),
    ] = None
    ranking: Ranking
    output: Output
    highlight: Highlight = ()
    seed_shown: SeedShown = "mean"


DataSet: TypeAlias = Annotated[
    Path | None,
    argument("MANIFEST", "A manifest, or the folder of a finished validation; NAME=PATH names its rows."),
]
ImageEncoder: TypeAlias = Annotated[
    str | None,
    option(
        "Image encoder: vectors:PATH, pixels, hf:MODEL, st:MODEL … See: xlingual encoders.",
        metavar="SPEC",
        otherwise="required for a manifest",
    ),
]


class SeveralDataSets(ManifestOptions, frozen=True, kw_only=True):
    """Manifests, or folders of finished validations, and how manifests are read."""

    manifest: DataSet = None  # type: ignore[assignment]  # a file may name data sets instead
    further: Annotated[
        tuple[Path, ...], argument("[MANIFEST…]", "Further ones, for a table of all of them.")
    ] = ()


class OptionalImages(ImageEncoding, frozen=True, kw_only=True):
    """How images are compared, where anything is to be compared."""

    image_encoder: ImageEncoder = None  # type: ignore[assignment]  # finished validations need none


class ValidateDataSetsRequest(ValidateBackretrievalRequest, frozen=True, kw_only=True):
    """Check how well Backretrieval agrees with true retrieval, on one data set or several."""

    data: SeveralDataSets
    text_encoders: TextEncoders = ()
    images: OptionalImages
    sets: Annotated[
        dict[str, dict[str, Any]],
        option(
            "Data sets by name, each a table of options of its own; those above hold for all.",
            metavar="SPEC",  # they are within: no secret of theirs is kept
            in_files=True,
        ),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every value, also those of the data sets."""
        super().__post_init__()
        self.data_sets()

    def data_sets(self) -> dict[str, Mapping[str, Any]]:
        """Return the options of each data set by its name: of manifests that of their file, or NAME=PATH.

        Of several each has a folder of its own in --out. Raises InputError for an option that is unknown or
        not of one data set, and for a name that is there twice.
        """
        shared = _given(self)
        shared.pop("sets", None)
        paths = (*filter(None, [shared.pop("manifest", None)]), *shared.pop("further", ()))
        own: dict[str, Mapping[str, Any]] = {}
        for name, path in map(_named, paths):
            if name in own:
                raise InputError(f"two data sets are called {name!r}: name them, as in other={path}")
            own[name] = {"manifest": path}
        for name, options in self.sets.items():
            if name in own or not _NAME.fullmatch(name):
                raise InputError(
                    f"[sets.{name}]: name a data set once, with letters, digits, blanks and . _ -"
                )
            own[name] = _own(options, f"[sets.{name}]")
        several = bool(self.sets) or len(own) > 1
        folders = {name: {"out": shared["out"] / name} for name in own if several and "out" in shared}
        return {
            name: {**_without_samples(shared, given), **folders.get(name, {}), **given}
            for name, given in own.items()
        }

    def of_manifests(self) -> list[str]:
        """Return the options given, as they are written, that finished validations have no use for."""
        known = leaves(type(self))
        taken = {"manifest", "further", "sets", *leaves(Output), *leaves(Keeping)}
        return [known[name].names[0] for name in _given(self) if name not in taken]

    @staticmethod
    def of_one(options: Mapping[str, Any], where: str = "") -> ValidateBackretrievalRequest:
        """Return the request of one data set; raise InputError where an option is missing."""
        return made(ValidateBackretrievalRequest, options, where)


_NAME = re.compile(r"\w[\w .-]*")
_OF_FOLDERS = {"manifest", "metadata", "validation"}  # such a file is named by its folder
_OF_ALL = {"form", "as_json", "quiet", "report"}


def _given(request: Request) -> dict[str, Any]:
    """Return the values of a request that are not the defaults."""
    usual = defaults(type(request))
    return {name: value for name, value in values(request).items() if value != usual.get(name)}


def _own(options: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return the checked options of one data set."""
    found = checked(
        ValidateBackretrievalRequest, {key: one for key, one in options.items() if key != "command"}, where
    )
    if beside := sorted(found.keys() & _OF_ALL):
        raise InputError(f"{where}: {beside[0]} is of the whole table: write it above the data sets")
    if "manifest" not in found:
        raise InputError(f"{where}: manifest is missing: name a manifest, or a finished validation's folder")
    return found


def _without_samples(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the shared options; a data set with fixed samples of its own takes no seeds."""
    sample = own.get("sample", "all")
    drawn = {"seeds", "sample"} if isinstance(sample, str) and sample != "all" else set()
    return {name: value for name, value in shared.items() if name not in drawn}


def _named(path: Path) -> tuple[str, Path]:
    """Return the name of a data set, and its path: NAME=PATH, else its folder's or file's name."""
    name, equals, rest = str(path).partition("=")
    if equals and rest and _NAME.fullmatch(name) and not path.exists():
        return name, Path(rest)
    path_of_name = path.absolute().parent if path.stem in _OF_FOLDERS else path.absolute()
    return path_of_name.name if path_of_name.is_dir() else path_of_name.stem, path
