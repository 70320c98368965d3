"""The table of docs/reference/corpora.md is that of the code."""

from pathlib import Path

from xlingual.data.corpora.table import CORPORA

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "corpora.md"
BECOMES = {"manifest": "manifest", "pool": "pool", "pairs": "sentence pairs"}


def table():
    lines = [
        "| name | corpus | becomes | files below the folder | licence, citation |",
        "|---|---|---|---|---|",
    ]
    for one in CORPORA.values():
        files = "; ".join(f"`{pattern}`: {what}" for pattern, what in one.files.items())
        lines.append(
            f"| `{one.name}` | [{one.title}]({one.url}): {one.about} | {BECOMES[one.kind]} | {files} | "
            f"{one.licence}. {one.citation} |"
        )
    return "\n".join(lines)


def test_the_page_has_the_table():
    assert table() in PAGE.read_text(encoding="utf-8")
