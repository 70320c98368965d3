"""References by users: `FOLDER` for all encoders of a folder of results, `FOLDER#ENCODER` for one.

Results in memory stand for all of their encoders; errors and labels call them "results 1", "results 2", or as
the mapping that holds them does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TypeAlias

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.results import Results
from xlingual.signature import Signature

_FILE = "results.json"


@dataclass(frozen=True)
class Reference:
    """A folder of results, and the encoder that is meant; None for all of them."""

    folder: Path
    encoder: str | None = None
    results: Results | None = field(default=None, compare=False, repr=False)  # in memory; `folder` is a name

    def __str__(self) -> str:
        return str(self.folder) if self.encoder is None else f"{self.folder}#{self.encoder}"

    @property
    def how_to_name_one(self) -> str:
        """How one of its encoders is named."""
        return f"{self.folder}#ENCODER" if self.results is None else "results.only('ENCODER')"


Given: TypeAlias = "str | Path | Results | Reference"  # how a user names encoders
SeveralGiven: TypeAlias = "Sequence[Given] | Mapping[str, Given] | Given"


@dataclass(frozen=True)
class LabelledEncoder:
    """One encoder of one folder, with a label that no other has."""

    folder: Path
    encoder: str
    label: str

    @property
    def name(self) -> str:
        """The encoder as a user names it: `FOLDER#ENCODER`."""
        return f"{self.folder}#{self.encoder}"

    def meant_by(self, ref: Reference) -> bool:
        """Whether a reference names this encoder or its folder, by whatever path."""
        return self.folder.resolve() == ref.folder.resolve() and ref.encoder in (None, self.encoder)


def as_references(given: SeveralGiven) -> list[Reference]:
    """Return the references of folders and of results in memory; a mapping names the latter.

    Raises InputError where something is neither.
    """
    if isinstance(given, str | Path | Results | Reference):
        given = [given]
    named: Mapping[str, Given] = {}
    if isinstance(given, Mapping):
        named, given = given, list(given.values())
    known = [one for one in given if isinstance(one, Reference) and one.results is not None]
    taken = {ref.folder.name for ref in known}
    found: list[Reference] = []
    for number, one in enumerate(given):
        if not isinstance(one, Results):
            found.append(parse_reference(one))
            continue
        same = next((ref for ref in [*known, *found] if ref.results is one), None)
        names = iter(list(named)[number:] if named else (f"results {i}" for i in count(number + 1)))
        name = next(name for name in names if named or (name not in taken and not Path(name).exists()))
        taken.add(name)
        found.append(same or Reference(Path(name), results=one))
    return found


def parse_reference(text: str | Path | Reference) -> Reference:
    """Return the folder and the encoder of `FOLDER`, `FOLDER/results.json` or either with `#ENCODER`.

    >>> parse_reference("out#minilm").encoder
    'minilm'
    """
    if isinstance(text, Reference):
        return text
    if not isinstance(text, str | Path):
        raise InputError(
            f"expected Results or the path of a folder of results, found {type(text).__name__}: evaluate "
            "first, as in compare([backretrieval(…), backretrieval(…)])"
        )
    text = str(text)
    if not Path(text).exists():
        marks = [place for place, letter in enumerate(text) if letter == "#"]
        # a folder may have "#" in its name: the first one that leaves a path that exists
        place = next((mark for mark in marks if Path(text[:mark]).exists()), marks[-1] if marks else None)
        if place is not None:
            if place == 0 or not text[place + 1 :]:
                raise InputError(f"{text!r}: write FOLDER#ENCODER, as in out/bkr#minilm")
            return Reference(_folder(text[:place]), text[place + 1 :])
    return Reference(_folder(text))


def each_folder_once(references: Sequence[Reference]) -> list[Reference]:
    """Return the references with one path for each folder, however often and in what ways it is named."""
    first: dict[Path, Path] = {}
    return [replace(ref, folder=first.setdefault(ref.folder.resolve(), ref.folder)) for ref in references]


def read_folders(references: Sequence[Reference]) -> dict[Path, Results]:
    """Return the results of each reference, a folder read once; raise InputError as `Results.read` does.

    Nor may a folder be without numbers, or have one whose signature cannot be read.
    """
    folders: dict[Path, Results] = {}
    for ref in references:
        if ref.folder not in folders:
            folders[ref.folder] = Results.read(ref.folder) if ref.results is None else ref.results
    for folder, results in folders.items():
        where = folder / _FILE
        if not results.entries:
            raise InputError(f"{where} holds no numbers ('results' is empty): run evaluate again")
        for entry in results.entries:
            try:
                Signature.parse(entry.signature)
            except ValueError as error:
                raise InputError(
                    f"{where}: {entry.encoder!r}, {entry.task} {entry.measure} has a signature that cannot "
                    f"be read ({error}): run evaluate again"
                ) from error
    return folders


def members(references: Sequence[Reference], folders: dict[Path, Results]) -> list[LabelledEncoder]:
    """Return the encoders that the references name, each once, folder by folder.

    An encoder of one name in two folders is labelled `folder#name`, with as much of the folder's path as
    makes the labels differ.
    """
    chosen: dict[tuple[Path, str], None] = {}
    for ref in references:
        known = list(dict.fromkeys(entry.encoder for entry in folders[ref.folder].entries))
        if ref.encoder is not None and ref.encoder not in known:
            raise InputError(
                f"{ref.folder} has no encoder {ref.encoder!r}.{did_you_mean(ref.encoder, known)} "
                f"Its encoders: {listed(known, 30)}"
            )
        chosen.update(dict.fromkeys((ref.folder, name) for name in known if ref.encoder in (None, name)))
    shared = {name for name, count in Counter(name for _, name in chosen).items() if count > 1}
    short = _short_names([folder for folder, name in chosen if name in shared])
    return [
        LabelledEncoder(folder, name, f"{short[folder]}#{name}" if name in shared else name)
        for folder, name in chosen
    ]


def find_member(text: str | Reference, found: Sequence[LabelledEncoder]) -> LabelledEncoder:
    """Return the encoder that `FOLDER#ENCODER`, a folder of one encoder or a label names."""
    for member in found:
        if member.label == text:
            return member
    ref = parse_reference(text)
    text = str(text)
    fitting = [member for member in found if member.meant_by(ref)]
    if len(fitting) == 1:
        return fitting[0]
    labels = [member.label for member in fitting or found]
    if not fitting:
        raise InputError(f"no encoder {text!r}.{did_you_mean(text, labels)} Encoders: {listed(labels, 30)}")
    raise InputError(
        f"{text} has {len(fitting)} encoders: name one with {ref.how_to_name_one} ({listed(labels, 30)})"
    )


def _folder(text: str) -> Path:
    path = Path(text)
    return path.parent if path.name == _FILE else path


def _short_names(folders: Sequence[Path]) -> dict[Path, str]:
    """Return the shortest endings of the paths by which they differ."""
    full = {folder: folder.resolve().parts for folder in dict.fromkeys(folders)}
    longest = max((len(parts) for parts in full.values()), default=1)
    for length in range(1, longest + 1):
        short = {folder: "/".join(parts[-length:]) for folder, parts in full.items()}
        if len(set(short.values())) == len(full):
            return short
    return {folder: str(folder) for folder in full}
