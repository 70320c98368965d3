"""The page of a table of validations: what is bold, what is marked, what the verdict says of both."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.report import as_html, page_of
from xlingual.report.render.text import as_text
from xlingual.results.validation import COEFFICIENTS, Agreement
from xlingual.results.validation_table import CONTRASTS, CorrectedDifference, MeanAgreement

made = SimpleNamespace(**run_path(str(Path(__file__).with_name("validations.py"))))


def test_equal_coefficients_are_all_best():
    row = made.row()
    equal = row.agreement["SIM"] | {"spearman": row.agreement["BkR"]["spearman"]}
    table = made.table("IKEA", rows=[made.row(agreement=row.agreement | {"SIM": equal})])
    first = next(line for line in as_text(page_of(table), "latex").splitlines() if line.startswith("IKEA"))
    assert first.count(r"\textbf") == 3  # Pearson of BkR, Spearman of BkR and SIM


def test_rows_without_numbers_are_shown_as_missing():
    nothing = Agreement(None, None, None, None, None, made.WHY)
    agreement = {name: dict.fromkeys(COEFFICIENTS, nothing) for name in made.MEASURES}
    lacking = CorrectedDifference(None, None, None, None, made.WHY)
    differences = dict.fromkeys(CONTRASTS, dict.fromkeys(COEFFICIENTS, lacking))
    mean = dict.fromkeys(made.MEASURES, dict.fromkeys(COEFFICIENTS, MeanAgreement(None, None, 0, "none")))
    empty = made.row(agreement=agreement, best={}, differences=differences)
    found = made.table("IKEA", rows=[empty, empty], mean=mean, n_tests=0)
    as_text(page_of(found), "markdown")
    assert made.WHY in as_html(found)


def test_csv_has_one_line_for_each_row_and_one_for_the_mean():
    lines = as_text(page_of(made.table("IKEA")), "csv").splitlines()
    assert len(lines) == 4 and lines[-1].startswith("mean,")
    head = lines[0].split(",")
    first = dict(zip(head, lines[1].split(","), strict=True))
    assert float(first["pearson BkR"]) == pytest.approx(0.954)
    assert float(first["pearson BkR-CORR adjusted p"]) == 0.0624 and first["pearson best"] == "BkR"
