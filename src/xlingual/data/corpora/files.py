"""Finding the files of a corpus below its folder, and reading lines that belong together."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from xlingual.data.corpora.table import Corpus
from xlingual.data.languages import tag_of
from xlingual.data.rows import read_lines
from xlingual.errors import InputError, did_you_mean, listed

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif")


@dataclass(frozen=True)
class CorpusFolder:
    """A corpus in a folder; `languages` are those that are wanted (empty: all), `split` likewise."""

    corpus: Corpus
    path: Path
    languages: Sequence[str] = ()
    split: str | None = None
    found: set[str] = field(default_factory=set, compare=False)  # languages that were seen

    def wants(self, language: str) -> bool:
        """Return whether a language is wanted."""
        self.found.add(language)
        return not self.languages or language in self.languages

    def wants_split(self, split: str) -> bool:
        """Return whether the rows of a split are wanted."""
        return self.split is None or split == self.split

    def files(self, pattern: str) -> list[Path]:
        """Return the files below the folder whose path ends as a pattern says, by path."""
        return sorted(path for path in self.path.rglob(pattern) if path.is_file())

    def needed(self, *patterns: str) -> list[Path]:
        """Return the files of some patterns; raise InputError, with what is expected, for none."""
        files = [path for pattern in patterns for path in self.files(pattern)]
        if not files:
            raise self.wrong()
        return files

    def wrong(self, why: str = "") -> InputError:
        """Return the error for a folder that does not hold the corpus."""
        if not self.path.exists():
            parent = self.path.parent
            names = [other.name for other in parent.iterdir()] if parent.is_dir() else []
            near = did_you_mean(self.path.name, names)
            return InputError(f"{self.path}: no such folder.{near} Give that of {self.corpus.title}")
        expected = "; ".join(f"{pattern}: {what}" for pattern, what in self.corpus.files.items())
        holds = (
            listed(sorted(path.name for path in self.path.iterdir()), 6) if self.path.is_dir() else "a file"
        )
        return InputError(
            f"{self.path} does not hold {self.corpus.title}{f' ({why})' if why else ''}: expected in it, or "
            f"in its folders, {expected}. It holds {holds or 'nothing'}. Download: {self.corpus.url}"
        )

    @cached_property
    def images(self) -> dict[str, Path]:
        """The images below the folder by their names."""
        found: dict[str, Path] = {}
        for folder, _, names in sorted(os.walk(self.path)):
            for name in names:
                if name.lower().endswith(IMAGE_ENDINGS):
                    found.setdefault(name, Path(folder, name))
        return found

    def language(self, word: str, path: Path) -> str:
        """Return the tag of a word in a file's name."""
        tag = tag_of(word, any_code=True)
        if tag is None:
            raise InputError(
                f"{path}: {word!r:.40} in its name is no language: rename the file, or remove it"
            )
        return tag


def lines_of(path: Path) -> list[str]:
    """Return the lines of a text file; an empty one at its end is none."""
    lines = [line for _, line in read_lines(path)]
    return lines[:-1] if lines and not lines[-1] else lines


def aligned(paths: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of files that belong together; raise InputError where one has more than another."""
    columns = [lines_of(path) for path in paths]
    for path, column in zip(paths, columns, strict=True):
        if len(column) != len(columns[0]):
            raise InputError(
                f"{path} has {len(column):,} lines and {paths[0]} {len(columns[0]):,}: they must belong "
                "together line by line, so download both again"
            )
    yield from zip(*columns, strict=True)


def parts_of(path: Path, pattern: str) -> dict[str, str] | None:
    """Return the named parts of a file's name, ".gz" left out; None where it does not fit."""
    match = re.fullmatch(pattern, path.name.removesuffix(".gz"))
    return match.groupdict() if match else None
