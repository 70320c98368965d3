"""The table of what tasks take is true, printed, and that of the docs."""

from pathlib import Path
from typing import Any

import pytest

from xlingual.cli.help import features
from xlingual.requests import leaves
from xlingual.tasks import FEATURES, TASKS, load

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tasks.md"


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.name)
def test_a_task_has_the_options_of_what_it_takes_and_no_others(task: Any) -> None:
    options = {name for leaf in leaves(load(task.request)).values() for name in leaf.names}
    for feature in FEATURES:
        if feature.option is not None:
            assert (feature.option in options) == (task.how(feature.name) != "–"), feature.name
    assert not set(task.refused()) & options


def test_the_page_and_the_command_have_the_rows(xlingual: Any) -> None:
    page, shown = PAGE.read_text(encoding="utf-8"), xlingual("help", "tasks").out
    for row in features():
        assert f"| {' | '.join(row)} |" in page
        assert any(line.split() == " ".join(row).split() for line in shown.splitlines())
    assert "--text-encoder" in xlingual("help", "evaluate", "bkr").out


def test_a_dash_is_refused_in_one_line(xlingual: Any) -> None:
    several = "captions m --similarity=csls", "corr m --run r.txt", "pool p --seeds 3", "sts f --cluster a"
    for words in several:
        done = xlingual("evaluate", *words.split())
        assert done.code == 2 and done.err.count("\n") == 1 and "takes no" in done.err, done.err
