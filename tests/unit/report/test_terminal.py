from io import StringIO

from rich.console import Console

from xlingual.report.render import terminal
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


def test_the_main_column_stays_where_no_row_has_a_value():
    assert [column.head for column in explained().columns][:2] == ["Encoder", "mAP"]


def test_a_title_wider_than_its_table_is_not_broken_to_its_width():
    title = "questions in the language of the row, answers in that of the column"
    narrow = Table(title, (Column("", "name"), Column("de")), (Row((Cell("ar"), Cell("0.5"))),))
    assert title in printed(80, narrow)
