"""Pages of the Python API: the public names by what they are for; their texts are their docstrings."""

from __future__ import annotations

import xlingual
from website.markdown import page, table

FOLDER = "reference/api"
GROUPS = {
    "Data": "Manifest MultilingualPool SearchRun Texts Images write_scenes pivot_pairs",
    "Encoders": "Encoder encoder SparseVectors TokenVectors Store",
    "Evaluate": "backretrieval check_backretrieval crosslingual_retrieval distance_correlation "
    "image_sentence multilingual_pool retrieval runs_against_qrels sts parse_measure Results write_report",
    "Decide": "compare Comparison gate Gate plan Plan history leaderboard Leaderboard inspect_results "
    "validate_backretrieval validation_of Validation validation_table ValidationTable nearest new_study",
    "Improve": "repair_encoder train_mlmme train_triplet train_dual_encoder train_pivot",
    "Errors": "XlingualError InputError DataWarning",
}


def pages() -> dict[str, str]:
    """Return the text of each page by its path below docs/."""
    names = {group: words.split() for group, words in GROUPS.items()}
    grouped = sorted(name for words in names.values() for name in words)
    public = sorted(name for name in xlingual.__all__ if not name.startswith("__"))
    assert grouped == public, f"in no group, or not public: {set(grouped).symmetric_difference(public)}"
    found = {
        f"{FOLDER}/{group.lower()}.md": page(
            f"Python: {group.lower()}",
            *(f"::: {_home(name)}\n    options:\n      heading_level: 2" for name in words),
        )
        for group, words in names.items()
    }
    rows = [
        (f"[{group}]({group.lower()}.md)", ", ".join(f"[`{name}`][{_home(name)}]" for name in words))
        for group, words in names.items()
    ]
    said = (
        "All names are in `xlingual`: `from xlingual import Manifest`. Importing it loads no other package."
    )
    return {f"{FOLDER}/index.md": page("Python", said, table(["For", "Names"], rows)), **found}


def _home(name: str) -> str:
    """Return where a public name is defined, as mkdocstrings reads the source without running it."""
    return f"xlingual.{xlingual._HOMES[name]}.{name}"
