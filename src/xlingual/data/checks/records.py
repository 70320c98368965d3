"""What a check found, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.data.checks.findings import Finding


@dataclass(frozen=True)
class PictureCheck:
    """The pictures; `missing` and `unreadable` hold (id of a row that shows it, what is wrong)."""

    n_rows_with: int  # text rows that have a picture
    n_rows_without: int
    without: list[str]  # ids of those
    n_distinct: int  # different bytes among those that could be read, different paths among the others
    missing: list[tuple[str, str]]
    unreadable: list[tuple[str, str]]
    same_bytes: list[tuple[str, str]]  # paths that hold the same bytes as an earlier path


@dataclass(frozen=True)
class LanguageCheck:
    """The texts of one language; lists hold ids of rows."""

    language: str
    n_texts: int
    n_items: int
    empty: list[str]  # texts without visible characters
    repeated: list[str]  # texts that an earlier row of the language has too
    other_script: list[str]  # texts mostly in letters the language is not written in
    longest: list[tuple[str, int]]  # (id, characters), the longest first
    median_length: float  # characters


@dataclass(frozen=True)
class PairCheck:
    """A language pair as Backretrieval takes it: no item is on both sides."""

    source: str
    target: str
    n_both: int  # items that have both languages; they are divided between the sides
    n_sources: int  # items on the source side
    n_targets: int
    n_pictures: int  # most distinct pictures on the source side; R@10 needs more than 10


@dataclass(frozen=True)
class Check:
    """What `check` found, as plain data."""

    source: str
    digest: str
    n_table_rows: int
    n_texts: int
    n_items: int
    n_items_without_text: int
    n_items_multilingual: int  # items with texts in more than one language
    languages: list[LanguageCheck]
    pairs: dict[tuple[str, str], int]  # items that have both languages
    directions: list[PairCheck]  # source-target pairs, those with the fewest pictures first
    shared_texts: dict[tuple[str, str], int]  # different texts that occur in both languages
    pictures: PictureCheck | None  # None: the manifest names no pictures
    html: list[str]  # ids of texts that hold entities or tags of HTML
    doubled_ids: list[str]  # ids that stand in several languages, each time for another item
    findings: list[Finding]  # errors first

    @property
    def warnings(self) -> list[str]:
        """The sentences of all findings but notes."""
        return [finding.sentence for finding in self.findings if finding.severity != "note"]
