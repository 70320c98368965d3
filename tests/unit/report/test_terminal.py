from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from xlingual.report.blocks import Finding, Page, Section
from xlingual.report.render import terminal, text
from xlingual.report.table import Badge, Cell, Column, Row, Table, TableRoom

NAME = "wordvec_identical_1000"


def console(width):
    return Console(file=StringIO(), width=width, highlight=False)


def table(**more):
    columns = (
        Column("Encoder", "name", "encoder", data=True),
        Column("Value", short="value", main=True),
        Column("", "chart"),
        Column("difference"),
        Column("adjusted p"),
    )
    cells = (
        Cell(NAME, badges=(Badge("level", "soft", "level with the leader"),)),
        Cell("0.235", value=0.2345),
        Cell(),
        Cell("−0.117", "[−0.149, −0.085]", value=-0.1171, ends=(-0.149, -0.085)),
        Cell("0.011"),
    )
    looks = (
        TableRoom(),
        TableRoom(badges="none"),
        TableRoom(badges="none", names=12, dropped=("adjusted p",)),
        TableRoom(badges="none", names=12, dropped=("adjusted p", "difference")),
    )
    return Table("BkR R@10", columns, (Row(cells),), where="both", **({"looks": looks} | more))


def printed(width, shown, **options):
    screen = console(width)
    terminal.show_table(screen, shown, **options)
    return screen.file.getvalue()


def test_the_widest_look_that_fits_says_nothing_of_room():
    found = printed(100, table())
    assert "adjusted p" in found and NAME in found and "left out" not in found
    assert "level with the leader" in found and "Encoder" not in found


def test_a_narrow_look_gives_its_spare_room_to_names():
    found = printed(57, table())
    assert "adjusted p" not in found.splitlines()[3] and NAME in found  # in one piece


def test_columns_left_out_are_named_with_the_remedy():
    one = " ".join(printed(57, table()).split())
    assert "“adjusted p” is left out for lack of room: widen the window or use --json" in one
    two = " ".join(printed(32, table()).split())
    assert "left out for lack of room: widen the window or use --json" in two and " are left out" in two
    assert "left out" not in printed(57, table(in_verdict=("adjusted p",)))


def test_intervals_stand_below_their_values_where_there_is_no_room_beside():
    found = printed(52, table(looks=(TableRoom(badges="none", stacked=True),)))
    lines = found.splitlines()
    (row,) = (i for i, line in enumerate(lines) if "−0.117" in line)
    assert "[−0.149, −0.085]" in lines[row + 1] and "0.011" in lines[row]


def test_an_interval_that_is_left_out_is_named():
    found = " ".join(printed(50, table(looks=(TableRoom(bare=("difference",)),))).split())
    assert "intervals of “difference” are left out" in found and "[" not in found


def test_intervals_that_are_left_out_are_named_together():
    whole = table(looks=(TableRoom(bare=("value", "difference")),))
    (row,) = whole.rows
    cells = tuple(replace(cell, interval="[0, 1]") if cell.value == 0.2345 else cell for cell in row.cells)
    found = " ".join(printed(57, replace(whole, rows=(replace(row, cells=cells),))).split())
    assert "intervals of “value” and “difference” are left out" in found
    without = " ".join(printed(57, whole).split())  # the value has no interval that could be left out
    assert "intervals of “difference” are left out" in without


def test_a_table_that_fits_in_no_look_has_another_form():
    other = Table("Long", (Column("a", "name"),), (Row((Cell("there"),)),))
    assert "Long" in printed(20, table(instead=other)) and "BkR" not in printed(20, table(instead=other))


def test_columns_without_room_follow_in_a_further_table():
    columns = (Column("", "name"), *(Column(f"system_{i}", data=True) for i in range(6)))
    rows = (Row(heading="One way"), Row((Cell("R@1"), *(Cell(f"{i}{i}.0") for i in range(6)))))
    found = printed(40, Table("All", columns, rows, splits=True))
    assert max(map(len, found.splitlines())) <= 40
    assert found.count("One way") > 1 and all(f"{i}{i}.0" in found for i in range(6))
    heads = [line.split() for line in found.splitlines() if "system" in line]
    assert [len(line) for line in heads] == [3, 3]
    five = Table("All", columns[:6], tuple(row.of(range(6)) for row in rows), splits=True)
    lines = printed(50, five).splitlines()  # room for four: three and two rather than four and one
    assert max(map(len, lines)) <= 50
    assert [len(line.split()) for line in lines if "system" in line] == [3, 2]


def test_a_long_heading_of_rows_is_broken_where_names_are():
    columns = (Column("", "name"), Column("value"))
    rows = (Row(heading="Sentence to image"), Row((Cell("R@1"), Cell("10.0"))))
    looks = (TableRoom(), TableRoom(names=10))
    wide, narrow = (printed(width, Table("", columns, rows, looks=looks)) for width in (30, 20))
    assert "Sentence to image" in wide
    assert "Sentence" in narrow and "to image" in narrow and "Sentence to" not in narrow


def page():
    return Page("report", "T", [Finding(["It leads.", "So it is."], "Run 1")], [Section("S", [table()])])


def test_texts_have_the_verdict_and_the_tables():
    markdown = text.markdown(page())
    assert markdown.startswith("Run 1: It leads.\n\nSo it is.\n\n**BkR R\\@10**")
    assert "| encoder | value | difference | adjusted p |  |" in markdown
    latex = text.latex(page())
    assert "% Run 1: It leads." in latex and "adjusted $p$" in latex and r"\bottomrule" in latex
    found = text.as_csv(page()).splitlines()
    assert found[0] == "encoder,value,difference,difference_low,difference_high,adjusted p"
    assert found[1] == f"{NAME},0.2345,-0.1171,-0.149,-0.085,0.011"


@pytest.mark.parametrize("width", [120, 80, 40])
def test_the_verdict_comes_first(width):
    screen = console(width)
    terminal.show(screen, page())
    assert screen.file.getvalue().strip().startswith("Run 1: It leads.")


def explained():
    columns = (
        Column("Encoder", "name", "encoder", data=True),
        Column("mAP", main=True),
        Column("own", meaning="with one answer"),
        Column("other", meaning="with one answer"),
        Column("Gap between them", short="gap", meaning="own minus other"),
        Column("none", meaning="nothing"),
    )
    rows = (Row((Cell(NAME), *map(Cell, ("–", "0.4", "0.3", "0.1", "–")))),)
    looks = (TableRoom(), TableRoom(dropped=("gap",), names=12))
    return Table("t", columns, rows, ("A note.",), looks=looks, where="both").without_empty()


def test_columns_that_are_shown_say_what_they_mean_and_equal_meanings_once():
    said = "own, other: with one answer."
    lines = [line.strip() for line in printed(100, explained()).splitlines()]
    assert lines[-2:] == ["A note.", f"{said} gap: own minus other."]
    narrow = printed(34, explained())
    assert said in narrow and "own minus other" not in narrow and "none" not in narrow
    assert explained().meanings == f"{said} Gap between them: own minus other."
    shown = Page("report", "T", [], [Section("S", [explained()])])
    assert f"{said} gap: own minus other." in text.markdown(shown)
    assert f"% {said} gap: own minus other." in text.latex(shown)


def test_the_main_column_stays_where_no_row_has_a_value():
    assert [column.head for column in explained().columns][:2] == ["Encoder", "mAP"]


def test_a_title_wider_than_its_table_is_not_broken_to_its_width():
    title = "questions in the language of the row, answers in that of the column"
    narrow = Table(title, (Column("", "name"), Column("de")), (Row((Cell("ar"), Cell("0.5"))),))
    assert title in printed(80, narrow)


def test_a_sentence_may_stand_for_a_table_without_room():
    wide = Column("value " * 9)
    shown = Table("t", (wide,), (Row((Cell("1" * 60),)),), looks=(TableRoom(),), instead="See the page.")
    assert printed(40, shown).strip() == "See the page."
