"""The dotted names of a task's row, which import contracts cannot see, lead to what the row says they are."""

from importlib import import_module
from inspect import Parameter, signature

import pytest

from xlingual.tasks import TASKS

EACH = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def function(dotted):
    module, _, name = dotted.partition(":")
    found = getattr(import_module(module), name)
    assert callable(found) and found.__name__ == name, dotted
    return found


@EACH
def test_the_evaluation_of_a_task_takes_data_then_keywords(task):
    found = function(task.evaluation)
    data, *options = signature(found).parameters.values()
    assert found.__name__ == task.name.replace("-", "_")
    assert data.name in ("manifest", "pool", "files") and data.default is Parameter.empty
    known = {option.name: option.default for option in options}
    if data.name == "manifest":  # how it is read, where it is given as data in memory or a path
        assert options.pop().kind is Parameter.VAR_KEYWORD
    if options[0].name == "text_encoders":
        options.pop(0)  # may stand second, without its name
    assert {option.kind for option in options} == {Parameter.KEYWORD_ONLY}
    assert known["text_encoders"] in (Parameter.empty, ()) and known["progress"] is None
    assert signature(found).return_annotation == "Results"


@EACH
def test_the_page_of_a_task_takes_runs_the_row_and_a_budget(task):
    given = signature(function(task.page))
    assert list(given.parameters) == ["runs", "task", "budget"]
    assert given.return_annotation == "TaskPart"


def test_a_name_that_leads_nowhere_is_found():
    with pytest.raises(AttributeError):
        function("xlingual.evaluation.sts:no_such_function")
