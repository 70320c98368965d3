"""Notes of tables: each is said once, of as few cells as can be."""

from xlingual.report import words


def test_notes_of_whole_columns_and_rows_are_one():
    cells = [(row, column) for row in ("a", "b", "c") for column in ("XLR", "BkR", "CORR")]

    def noted(**notes):
        return words.gathered((cell, notes.get("_".join(cell), notes.get(cell[1]))) for cell in cells)

    seed = "one seed: no spread over seeds"
    assert noted(XLR=seed, BkR=seed, CORR=seed) == [f"All: {seed}"]
    assert noted(XLR=seed, BkR=seed) == [f"XLR and BkR: {seed}"]
    assert noted(a_XLR="no", a_BkR="no", a_CORR="no", c_BkR="no") == ["a and c BkR: no"]
    drawn = {f"{name}_CORR": f"from 4 of 9 pairs, standard error 0.000{i}" for i, name in enumerate("abc", 4)}
    assert noted(XLR=seed, BkR=seed, **drawn) == [
        f"XLR and BkR: {seed}",
        "CORR: from 4 of 9 pairs, standard error 0.0004 to 0.0006",
    ]
