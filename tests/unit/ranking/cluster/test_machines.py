"""What is asked of a cluster's machines before any work, and the options that name a cluster."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.errors import InputError
from xlingual.ranking.cluster import connection, machines
from xlingual.ranking.cluster.tasks import own_version

standin = SimpleNamespace(**run_path(str(Path(__file__).with_name("standin.py"))))
NODE = {"NodeManagerAddress": "10.0.0.2", "NodeID": "b", "Alive": True, "Resources": {"CPU": 2.0}}


class GetTimeoutError(standin.RayError):
    pass


class Answering(standin.Ray):
    """A cluster whose machine gives a certain answer."""

    exceptions = SimpleNamespace(RayError=standin.RayError, GetTimeoutError=GetTimeoutError)

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def get(self, reference, timeout=None):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def judged(answer):
    return machines._judged(Answering(answer), NODE, "asked", "/mnt/shared")


def test_a_machine_that_has_everything_counts():
    assert judged((own_version(), True, True)) == 1


def test_a_machine_that_has_left_does_not_count():
    assert judged(standin.RayError("gone")) == 0


def test_the_question_needs_nothing_of_xlingual(tmp_path):
    ask = machines._question()
    assert ask.__globals__["__name__"] == machines.__name__
    used = {name for name in ask.__code__.co_names if name in vars(machines)}
    assert used <= {"os"}
    assert ask(str(tmp_path), None) == (own_version(), True, True)
    assert ask(str(tmp_path / "absent"), None)[2] is False


def test_machines_without_a_processor_do_no_work():
    head = NODE | {"Resources": {"memory": 1.0}}
    dead = NODE | {"Alive": False}
    ray = SimpleNamespace(nodes=lambda: [head, NODE, dead])
    assert connection.machines(ray) == [NODE]
    with pytest.raises(InputError, match="no machine of the Ray cluster offers a processor"):
        machines.check_machines(SimpleNamespace(nodes=lambda: [head]), None)


def test_the_variable_of_ray_names_the_cluster(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.9:6379")
    assert connection.cluster_address(None) == "10.0.0.9:6379"
    assert connection.cluster_address("auto") == "auto"
    monkeypatch.delenv("RAY_ADDRESS")
    assert connection.cluster_address(None) is None
