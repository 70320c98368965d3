"""The page of a verification: whether a result came out again, and what is another."""

from __future__ import annotations

from pathlib import Path

from xlingual.report import numbers
from xlingual.report.blocks import Block, Finding, Page, Section
from xlingual.report.table import Column, Table
from xlingual.results.verification import Verification

_WHERE = (
    "Paths count from the current folder: run verify where the command was given, and for a suite in the "
    "folder of its file."
)


def page(found: Verification, *, title: str | None = None) -> Page:
    """Return the page of a verification."""
    return Page(
        kind="verification",
        title=title or f"Verification of {Path(found.path).name}",
        verdict=[Finding(sentences(found))],
        sections=[Section("", _tables(found))],
    )


def sentences(found: Verification) -> list[str]:
    """Return what became of the result, the most important first."""
    head = {
        "equal": f"EQUAL: {found.path} was computed again and is equal in every digit: "
        f"{numbers.count(found.n_compared)} values.",
        "unchanged": f"UNCHANGED: the inputs of {found.path} have not changed. Nothing was computed.",
        "different": f"DIFFERENT: the numbers in {found.path} differ from those computed now.",
        "changed": f"CHANGED: {found.path} cannot be computed again, because an input file has changed.",
        "missing": f"MISSING: {found.path} cannot be checked, because something is missing.",
        "not allowed": f"NOT ALLOWED: nothing of {found.path} was computed: it asks for encoders or files "
        "that are not allowed. Allow them with --allow FOLDER or --allow SCHEME, if you trust who wrote it.",
    }[found.outcome]
    said = [head, *(f"{_begun(problem)}." for problem in found.problems)]
    for state in ("changed", "missing"):
        names = [one.path for one in found.inputs if one.state == state]
        if names:
            said.append(f"{state.capitalize()}: {numbers.in_words(names, 5)}.")
    if any(one.state == "missing" and not Path(one.path).is_absolute() and one.note for one in found.inputs):
        said.append(_WHERE)
    if found.n_different:
        of = f"{numbers.count(found.n_different)} of {numbers.count(found.n_compared)}"
        said.append(f"{of} numbers differ.")
    if found.versions and found.outcome != "unchanged":
        said.append(f"Versions have changed: {'; '.join(found.versions)}.")
    return said


def _begun(sentence: str) -> str:
    """Return a sentence with a capital letter, unless it begins with the name of a file or an option."""
    first = sentence.split(maxsplit=1)[0]
    return f"{sentence[0].upper()}{sentence[1:]}" if first.isalpha() else sentence


def _tables(found: Verification) -> list[Block]:
    blocks: list[Block] = []
    if found.differences:
        numbers_of = [(one.what, one.kept, one.found) for one in found.differences]
        said = ("in the file", "computed now")
        heads = ("number", *said)
        blocks.append(Table.of_texts("What changed", heads, numbers_of, words=said, where="both"))
    if found.uses:
        uses = [(one.what, one.name, "yes" if one.allowed else "no") for one in found.uses]
        heads_of = [Column("what", "name"), Column("name", "words"), Column("allowed", "words")]
        blocks.append(Table.of_texts("What the record asks for", heads_of, uses, where="both"))
    if found.inputs:
        inputs = [(one.role, one.path, one.state, one.note) for one in found.inputs]
        heads_of = [Column("what", "name"), *(Column(name, "words") for name in ("path", "now", "note"))]
        blocks.append(Table.of_texts("What it was made from", heads_of, inputs, where="both").without_empty())
    return blocks
