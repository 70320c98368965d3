from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from xlingual.report.terminal import fitting, plain_table

NAME = "wordvec_identical_1000"


def console(width):
    return Console(file=StringIO(), width=width, highlight=False)


def form(name_width, *dropped):
    table = plain_table("BkR R@10")
    table.add_column("encoder", overflow="fold", min_width=8, max_width=name_width)
    columns = {"value": "0.235", "difference": "−0.117 [−0.149, −0.085]", "adjusted p": "0.011"}
    kept = [name for name in columns if name not in dropped]
    for name in kept:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row(Text(NAME), *(columns[name] for name in kept))
    return table


def printed(width, forms, **options):
    screen = console(width)
    screen.print(fitting(screen, forms, **options))
    return screen.file.getvalue()


def forms():
    return (form(28), form(12), form(12, "adjusted p"), form(12, "adjusted p", "difference"))


def test_the_widest_form_that_fits_says_nothing_of_room():
    text = printed(100, forms())
    assert "adjusted p" in text and NAME in text and "left out" not in text


def test_a_narrow_form_gives_its_spare_room_to_names():
    chosen = fitting(console(57), forms())
    assert [str(column.header) for column in chosen.columns] == ["encoder", "value", "difference"]
    assert chosen.columns[0].max_width > 12  # what it was made with
    assert NAME in printed(57, forms())  # in one piece


def test_columns_left_out_are_named_with_the_remedy():
    one = " ".join(printed(57, forms(), instead="--format csv").split())
    assert "adjusted p is left out for lack of room: widen the window or use --format csv" in one
    two = " ".join(printed(32, forms()).split())
    assert "left out for lack of room: widen the window or use --json" in two and " are left out" in two
    assert "left out" not in printed(57, forms(), unsaid=("adjusted p",))


def test_no_form_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="no table"):
        fitting(console(80), ())
