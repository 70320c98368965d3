"""Every spec on the page of models is one that the program understands."""

import re
from pathlib import Path

import pytest

from xlingual.encoders import SCHEMES, parse
from xlingual.encoders.spec import read_options, scheme_for

PAGE = (Path(__file__).parents[3] / "docs/reference/models.md").read_text(encoding="utf-8")
FAMILIES = ("RCSLS", "M-BERT", "mDistilBERT", "LaBSE", "LASER", "USE-M", "MUSE", "GloVe", "XLM-MLM", "XLM-R")
SPECS = [
    code
    for code in re.findall(r"`([^`]+)`", PAGE)
    if code.partition(":")[0] in SCHEMES and not code.endswith(":")
]


@pytest.mark.parametrize("text", SPECS)
def test_a_spec(text):
    spec = parse(text)
    while spec is not None:
        read_options(spec, scheme_for(spec, "texts"))
        spec = spec.base


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_the_paper_has_a_row_with_a_spec(family):
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {family}"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert len(cells) == 4 and all(cells)
    assert any(f"`{spec}`" in cells[2] for spec in SPECS)


def test_there_are_specs():
    assert len(SPECS) > 20
