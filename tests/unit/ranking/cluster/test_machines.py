"""What is asked of a cluster's machines before any work, and the options that name a cluster."""

import subprocess
import sys
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.errors import InputError, MissingExtraError
from xlingual.ranking.choice import choose
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


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((None, True, True), r"machine 10\.0\.0\.2 of the Ray cluster has no xlingual: pip install"),
        (("0.0.7", True, True), r"has xlingual 0\.0\.7, here is .*install the same on all"),
        ((own_version(), False, False), r"has no fsspec, which /mnt/shared needs: pip install"),
        ((own_version(), True, False), r"does not see what is written to /mnt/shared here"),
        (GetTimeoutError(), r"does not answer"),
    ],
)
def test_a_machine_that_lacks_something_is_named(answer, said):
    with pytest.raises(InputError, match=said) as refused:
        judged(answer)
    assert "\n" not in str(refused.value)


def test_the_question_needs_nothing_of_xlingual(tmp_path):
    ask = machines._question()
    assert ask.__globals__["__name__"] == machines.__name__
    used = {name for name in ask.__code__.co_names if name in vars(machines)}
    assert used <= {"os"}
    assert ask(str(tmp_path), None) == (own_version(), True, True)
    assert ask(str(tmp_path / "absent"), None)[2] is False


def test_a_url_is_looked_at_by_each_machine():
    fsspec = pytest.importorskip("fsspec")
    ask = machines._question()
    fsspec.filesystem("memory").pipe_file("/shared-of-a-test/mark", b"")
    assert ask(None, "memory://shared-of-a-test/mark") == (own_version(), True, True)
    assert ask(None, "memory://shared-of-a-test/absent") == (own_version(), True, False)
    assert ask(None, "protocol-of-nobody://folder/mark") == (own_version(), True, False)


def test_machines_without_a_processor_do_no_work():
    head = NODE | {"Resources": {"memory": 1.0}}
    dead = NODE | {"Alive": False}
    ray = SimpleNamespace(nodes=lambda: [head, NODE, dead])
    assert connection.machines(ray) == [NODE]
    with pytest.raises(InputError, match="no machine of the Ray cluster offers a processor"):
        machines.check_machines(SimpleNamespace(nodes=lambda: [head]), None)


def test_a_cluster_of_which_no_machine_answers_is_refused(monkeypatch):
    pytest.importorskip("ray")
    util = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda *_, **__: None)
    monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", util)
    asked = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda *_: "asked"))
    ray = Answering(standin.RayError("gone"))
    ray.nodes, ray.remote = lambda: [NODE], lambda **_: lambda function: asked
    with pytest.raises(InputError, match="no machine of the Ray cluster answers"):
        machines.check_machines(ray, None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"backend": "cpu", "address": "auto"}, "add --backend ray"),
        ({"backend": "auto", "shared": "folder"}, "add --backend ray"),
        ({"backend": "ray", "address": "10.0.0.1:6379"}, "--shared is missing"),
        ({"backend": "ray", "address": "10.0.0.1:66000", "shared": "s"}, "is no address: give HOST:PORT"),
        ({"backend": "ray", "address": "nowhere", "shared": "s"}, "is no address: give HOST:PORT"),
        (
            {"backend": "ray", "address": "127.0.0.1:1", "shared": "s"},
            r"no Ray head answers at 127\.0\.0\.1:1",
        ),
    ],
)
def test_options_that_cannot_be_met(options, said):
    pytest.importorskip("ray")
    with pytest.raises(InputError, match=said) as refused:
        choose(**options)
    assert "\n" not in str(refused.value)


def test_a_cluster_that_died_without_a_word_is_no_cluster(monkeypatch, tmp_path):
    """Ray keeps the address of the last one in a file, and ends the program that waits there for a minute."""
    pytest.importorskip("ray")
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:1")
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", set)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(InputError, match=r"no Ray head answers at .*:1 \("):
        choose("ray", address="auto", shared="s")


def test_the_variable_of_ray_names_the_cluster(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.9:6379")
    assert connection.cluster_address(None) == "10.0.0.9:6379"
    assert connection.cluster_address("auto") == "auto"
    monkeypatch.delenv("RAY_ADDRESS")
    assert connection.cluster_address(None) is None


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"--backend ray .*xlingual\[ray\]"):
        choose("ray")


def test_a_machine_without_xlingual_can_answer():
    cloudpickle = pytest.importorskip("ray.cloudpickle")
    program = (
        "import sys, importlib.abc, importlib.metadata\n"
        "class Absent(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.partition('.')[0] == 'xlingual':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "def version(name): raise importlib.metadata.PackageNotFoundError(name)\n"
        "importlib.metadata.version = version\n"
        "import importlib.util; importlib.util.find_spec = lambda name: None\n"
        "sys.modules['fsspec'] = None\n"
        "import pickle; print(pickle.loads(sys.stdin.buffer.read())(None, 'memory://folder/mark'))\n"
    )
    sent = cloudpickle.dumps(machines._question())
    done = subprocess.run([sys.executable, "-c", program], input=sent, capture_output=True, check=False)
    assert done.stdout.decode().strip() == "(None, False, False)", done.stderr.decode()
