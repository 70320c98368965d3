"""The page of a table of validations: what is bold, what is marked, what the verdict says of both."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.report import as_html, page_of, verdict
from xlingual.report.render.text import as_text
from xlingual.results.validation import COEFFICIENTS, Agreement
from xlingual.results.validation_table import CONTRASTS, CorrectedDifference, MeanAgreement

made = SimpleNamespace(**run_path(str(Path(__file__).with_name("validations.py"))))


def test_the_best_is_bold_and_real_differences_are_marked():
    text = as_text(page_of(made.table("IKEA", "emoji")), "latex")
    first = next(line for line in text.splitlines() if line.startswith("IKEA & en"))
    assert first.startswith(
        r"IKEA & en $\to$ de & \textbf{0.954} $\pm$ 0.003 & 0.935 $\pm$ 0.003** & 0.706 $\pm$ 0.003* &"
    )
    assert r"mean &  & 0.961 $\pm$ 0.001 & 0.942 $\pm$ 0.001 & 0.713 $\pm$ 0.001 &" in text
    assert text.count(r"\begin{tabular}{llrrrrrr}") == 1


def test_the_verdict_counts_rows_and_names_those_where_bkr_loses():
    lost = made.row("emoji", "es", "pt", best={"pearson": "SIM", "spearman": "BkR"})
    found = " ".join(verdict(made.table("IKEA", rows=[made.row(), lost], n_tests=8)))
    assert "mean over 2 rows of 2 data sets" in found
    assert "Highest Pearson of 2 rows: BkR in 1 and SIM in 1; not BkR in emoji es → pt." in found
    assert "Highest Spearman of 2 rows: BkR in 2." in found
    assert (
        "better than SIM by Pearson in 0 of 2 rows, worse in 2 (2 after correction for 8 tests): IKEA "
        "en → de and emoji es → pt; by Spearman" in found
    )
    assert "better than CORR by Pearson in 2 of 2 rows (0 after correction for 8 tests)" in found


def test_equal_coefficients_are_all_best():
    row = made.row()
    equal = row.agreement["SIM"] | {"spearman": row.agreement["BkR"]["spearman"]}
    table = made.table("IKEA", rows=[made.row(agreement=row.agreement | {"SIM": equal})])
    assert "Highest Spearman of 1 row: BkR in 1 and SIM in 1 (equal ones in 1)." in " ".join(verdict(table))
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
    text = as_text(page_of(found), "markdown")
    assert "| IKEA | en → de | – | – |" in text and f"All: {made.WHY}" in text
    assert "No row of 2 rows of 1 data set has a coefficient." in text and "cannot tell" in text
    assert made.WHY in as_html(found)


def test_csv_has_one_line_for_each_row_and_one_for_the_mean():
    lines = as_text(page_of(made.table("IKEA")), "csv").splitlines()
    assert len(lines) == 4 and lines[-1].startswith("mean,")
    head = lines[0].split(",")
    first = dict(zip(head, lines[1].split(","), strict=True))
    assert float(first["pearson BkR"]) == pytest.approx(0.954)
    assert float(first["pearson BkR-CORR adjusted p"]) == 0.0624 and first["pearson best"] == "BkR"
