"""References by users: `FOLDER` for all encoders of a folder of results, `FOLDER#ENCODER` for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.results import Results
from xlingual.signature import Signature

_FILE = "results.json"


@dataclass(frozen=True)
class Reference:
    """A folder of results, and the encoder that is meant; None for all of them."""

    folder: Path
    encoder: str | None = None


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


def parse_reference(text: str | Path) -> Reference:
    """Return the folder and the encoder of `FOLDER`, `FOLDER/results.json` or either with `#ENCODER`.

    >>> parse_reference("out#minilm").encoder
    'minilm'
    """
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
    """Return the results of each folder, each read once; raise InputError as `Results.read` does.

    Nor may a folder be without numbers, or have one whose signature cannot be read.
    """
    folders = {folder: Results.read(folder) for folder in dict.fromkeys(ref.folder for ref in references)}
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


def find_member(text: str, found: Sequence[LabelledEncoder]) -> LabelledEncoder:
    """Return the encoder that `FOLDER#ENCODER`, a folder of one encoder or a label names."""
    for member in found:
        if member.label == text:
            return member
    ref = parse_reference(text)
    fitting = [member for member in found if member.meant_by(ref)]
    if len(fitting) == 1:
        return fitting[0]
    labels = [member.label for member in fitting or found]
    if not fitting:
        raise InputError(f"no encoder {text!r}.{did_you_mean(text, labels)} Encoders: {listed(labels, 30)}")
    raise InputError(
        f"{text} has {len(fitting)} encoders: name one with {text}#ENCODER ({listed(labels, 30)})"
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
