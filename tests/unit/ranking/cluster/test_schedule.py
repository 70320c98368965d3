"""A pass on a cluster, with Ray replaced by a stand-in: any shards, lost tasks, damaged parts, resuming."""

import os
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.errors import DataWarning, InputError, XlingualError
from xlingual.ranking import GivenScores, Top
from xlingual.ranking.cluster import RayRanker, tasks
from xlingual.ranking.cluster.tasks import Merge, Piece

passes, standin = (
    SimpleNamespace(**run_path(str(Path(__file__).with_name(f"{name}.py")))) for name in ("passes", "standin")
)


def ranker(shared, ray=None, sides=(20, 15)):
    made = RayRanker("auto", shared, sides=sides)
    made._ray, made.machines = ray or standin.Ray(), 1
    return made


def ranked(made, whole=None, progress=None):
    whole = whole or passes.similarity()
    reductions = passes.requests(whole)
    made.scan(whole, reductions, progress=progress)
    return passes.found(reductions)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 40),
    st.integers(1, 60),
    st.tuples(st.integers(1, 40), st.integers(1, 25)),
    st.sampled_from([np.float16, np.float32, np.float64]),
    st.integers(0, 2**32),
)
def test_any_shards_give_what_one_machine_gives(tmp_path_factory, n, m, sides, dtype, seed):
    whole = passes.similarity(n, m, seed=seed, dtype=dtype)
    shared = tmp_path_factory.mktemp("shared")
    assert ranked(ranker(shared, sides=sides), whole) == passes.expected(whole)


def test_tasks_are_bounded_and_progress_ends_with_all_pairs(tmp_path):
    ray, steps = standin.Ray(cores=2), []
    made = ranker(tmp_path, ray, sides=(20, 2))
    ranked(made, progress=lambda done, total: steps.append((done, total)))
    assert ray.most == 4
    assert steps[-1] == (3000, 3000)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert sum(isinstance(job, Piece) for job in ray.jobs) == 3 * 25
    assert sum(isinstance(job, Merge) for job in ray.jobs) == 3 * 3


def test_pairs_screened_are_counted_once(tmp_path):
    whole = passes.similarity()
    reductions = passes.requests(whole)
    ranker(tmp_path).scan(whole, reductions)
    assert whole.screened == 3000


def test_lost_tasks_are_begun_again(tmp_path):
    ray = standin.Ray(lose=lambda number, job: number % 3 == 0)
    made = ranker(tmp_path, ray)
    assert ranked(made) == passes.expected(passes.similarity())
    assert made.repeated > 0


class Interrupted(standin.Ray):
    def wait(self, references, **more):
        if len(self.jobs) >= 6:
            raise KeyboardInterrupt
        return super().wait(references, **more)


def test_an_interrupted_pass_goes_on_with_what_is_missing(tmp_path):
    first = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        ranked(ranker(tmp_path, first))
    names = {job.name for job in first.jobs}
    assert {path.name for path in (tmp_path / "parts").iterdir()} == names
    second = standin.Ray()
    made = ranker(tmp_path, second)
    assert ranked(made) == passes.expected(passes.similarity())
    assert not names & {job.name for job in second.jobs}
    assert made.found == sum(isinstance(job, Piece) for job in first.jobs)
    third = standin.Ray()
    assert ranked(ranker(tmp_path, third)) == passes.expected(passes.similarity())
    assert third.jobs == []
    made.forget()
    assert not (tmp_path / "parts").exists()
    assert list((tmp_path / "vectors").iterdir())


@pytest.mark.parametrize("which", ["-0-1.npz", "-1-0to3.npz"])
@pytest.mark.parametrize("damage", ["changed", "missing"])
@pytest.mark.cases(2)
def test_damaged_parts_are_made_again_and_counted(tmp_path, which, damage):
    ranked(ranker(tmp_path))
    roots = [path for path in (tmp_path / "parts").iterdir() if path.name.endswith("-0-0to3.npz")]
    for path in roots:  # so that its pieces are asked for
        path.unlink()
    (path,) = [path for path in (tmp_path / "parts").iterdir() if path.name.endswith(which)]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    ray = standin.Ray()
    if damage == "missing":

        class Removing(standin.Ray):
            def begin(self, function, *arguments):
                if isinstance(arguments[0], Merge) and not any(isinstance(job, Merge) for job in self.jobs):
                    os.unlink(path)
                return super().begin(function, *arguments)

        ray = Removing()
    with pytest.warns(DataWarning, match="a finished part was damaged or missing"):
        assert ranked(ranker(tmp_path, ray)) == passes.expected(passes.similarity())


def test_vectors_that_another_command_removed_are_written_again(tmp_path):
    """Two commands on one machine rank the same vectors; the one that ends first tidies up."""

    class Ending(standin.Ray):
        def begin(self, function, *arguments):
            if len(self.jobs) == 5:
                other.forget()
                assert not list((tmp_path / "vectors").glob("*.npy"))
                tasks._vectors.cache_clear()
            return super().begin(function, *arguments)

    other = ranker(tmp_path)
    other.address = None
    ranked(other)
    for path in (tmp_path / "parts").iterdir():
        path.unlink()
    made = ranker(tmp_path, Ending())
    with pytest.warns(DataWarning):
        assert ranked(made) == passes.expected(passes.similarity())
    assert len(list((tmp_path / "vectors").glob("*.npy"))) == 3 + 4


def test_pieces_that_were_merged_already_are_counted_as_seen(tmp_path):
    whole, sides = passes.similarity(12, 40), (12, 2)
    first = ranker(tmp_path, sides=sides)
    ranked(first, whole)
    for path in (tmp_path / "parts").iterdir():
        if "to19" in path.name or path.name.endswith("-0-19.npz"):
            path.unlink()  # the last merge and the last piece; what is below the first merge is not looked at
    steps = []
    made = ranker(tmp_path, sides=sides)
    found = ranked(made, passes.similarity(12, 40), lambda done, total: steps.append(done))
    assert found == passes.expected(passes.similarity(12, 40))
    assert made.found == 19 and made.made == 3
    assert steps[-1] == 12 * 40


def test_a_gpu_is_asked_for_where_there_is_one(tmp_path):
    for ray, gpus, expected in (
        (standin.Ray(gpus=0), None, 0),
        (standin.Ray(gpus=2), None, 1),
        (standin.Ray(gpus=2), 0.5, 0.5),
        (standin.Ray(gpus=2), 0.0, 0),
    ):
        made = ranker(tmp_path, ray)
        made.gpus = gpus
        ranked(made)
        assert ray.options["num_gpus"] == expected
        made.forget()
    made.gpus = 1
    made._ray = standin.Ray()
    with pytest.raises(InputError, match="has no GPU"):
        ranked(made)


def test_scores_that_somebody_gives_are_ranked_here(tmp_path):
    given_scores = GivenScores((5, 4), lambda rows, columns: np.zeros((len(rows), len(columns))))
    ray = standin.Ray()
    made = ranker(tmp_path, ray)
    top = Top(1, (5, 4))
    made.scan(given_scores, [top])
    assert (top.result().tied == 4).all()
    assert ray.jobs == []
    assert made.about() == {"backend": "ray", "machines": 1, "given_scores": "cpu"}


def test_a_head_that_has_died_is_told_of_and_what_is_finished_is_kept(tmp_path, monkeypatch):
    """Ray itself waits for a minute, and then ends the program."""
    monkeypatch.setattr("xlingual.ranking.cluster.schedule.HEADLESS", 0.0)
    monkeypatch.setattr("xlingual.ranking.cluster.schedule._LOOK", 0.0)

    class Dying(standin.Ray):
        def begin(self, function, *arguments):
            if len(self.jobs) == 5:
                self.head = "127.0.0.1:1"
            return super().begin(function, *arguments)

    with pytest.raises(XlingualError, match=r"does not answer any more .*kept in the shared folder"):
        ranked(ranker(tmp_path, Dying()))
    made = ranker(tmp_path)
    assert ranked(made) == passes.expected(passes.similarity())
    assert made.found >= 4


class Clock:
    """Time that passes while it is waited for."""

    now = 0.0

    def monotonic(self):
        return self.now


def test_machines_that_all_left_are_waited_for_a_while(tmp_path, monkeypatch):
    clock = Clock()
    monkeypatch.setattr("xlingual.ranking.cluster.schedule.time", clock)

    class Left(standin.Ray):
        def wait(self, references, **more):
            clock.now += more["timeout"] or 0.0
            self.resources = {"CPU": 0, "GPU": 0}
            return [], references

    with pytest.raises(XlingualError, match="no machine of the Ray cluster is left"):
        ranked(ranker(tmp_path, Left()))
    assert 120.0 < clock.now < 140.0


@pytest.mark.parametrize("lost", ["the task", "the answer"])
@pytest.mark.cases(1)
def test_tasks_that_never_end_while_nothing_runs_are_begun_again(tmp_path, monkeypatch, lost):
    clock = Clock()
    monkeypatch.setattr("xlingual.ranking.cluster.schedule.time", clock)

    class Silent(standin.Ray):
        """Never tells of two of its first tasks."""

        def begin(self, function, *arguments):
            if len(self.jobs) in (1, 2) and lost == "the task":
                self.jobs.append(arguments[0])
                return len(self.jobs) - 1
            return super().begin(function, *arguments)

        def wait(self, references, **more):
            clock.now += more["timeout"] or 0.0
            assert clock.now < 1000.0
            return super().wait([number for number in references if number not in (1, 2)], **more)

        def available_resources(self):
            return self.resources

    ray = Silent()
    made = ranker(tmp_path, ray)
    assert ranked(made) == passes.expected(passes.similarity())
    assert made.repeated == (2 if lost == "the task" else 0)
