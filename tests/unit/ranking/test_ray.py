"""Ranking by Ray itself: its numbers are those of one machine, and a lost worker's block is done again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xlingual.errors import InputError
from xlingual.ranking import Cosine, Counts, Cpu, UnitVectors, rank
from xlingual.ranking.ray import Ray

pytestmark = pytest.mark.slow
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def _no_cluster_of_other_tests():
    ray.shutdown()


@pytest.fixture(scope="module")
def cluster():
    """Give the address of a cluster of a head that computes nothing and of two machines."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        patch.setenv("PYTHONPATH", os.pathsep.join([*sys.path, str(Path(__file__).parent)]))
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        for _ in range(2):
            cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        yield cluster.address
        ray.shutdown()
        cluster.shutdown()


def cosine(n=5000, m=700, dim=16):
    rng = np.random.default_rng(0)
    return Cosine(*(UnitVectors(rng.integers(-2, 3, (size, dim)).astype(np.float32)) for size in (n, m)))


def answers(ranker, *others):
    similarity = cosine()
    counts = Counts.of(similarity, np.arange(5000), np.arange(5000) % 700)
    rank(similarity, [counts, *others], ranker)
    return counts.above.tolist(), counts.tied.tolist()


class Fatal(Counts):
    """Kills a worker, once, or raises an error; it counts nothing."""

    def __init__(self, mark=None, error=None):
        super().__init__(*[np.empty(0, np.int64)] * 3)
        self.mark, self.error = mark, error

    def part(self, rows):
        if self.error is not None:
            raise self.error
        if rows.start == 1024 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().part(rows)


@pytest.mark.parametrize("address", ["localhost:1", "localhost", "host:x"])
def test_an_address_where_nothing_answers_is_refused(address):
    with pytest.raises(InputError, match=f"no Ray head answers at {address} .*HOST:PORT"):
        rank(cosine(), [], Ray(address))


def test_a_cluster_gives_what_one_machine_gives_and_does_lost_blocks_again(cluster, tmp_path):
    ranker = Ray(cluster)
    assert answers(ranker, Fatal(tmp_path / "lost")) == answers(Cpu())
    assert (tmp_path / "lost").exists()
    assert ranker.about() == {"backend": "ray", "machines": 2}


def test_an_error_of_a_worker_is_told_in_its_words(cluster):
    with pytest.raises(InputError, match=r"^take fewer$"):
        answers(Ray(cluster), Fatal(error=InputError("take fewer")))


def test_vectors_that_no_machine_can_hold_are_refused(cluster):
    with pytest.raises(InputError, match=r"needs 0\.1\d+ GB .* store of one has 0\.105 GB"):
        rank(cosine(450_000, 5, 64), [], Ray(cluster))


PROGRAM = """
import sys, threading, _thread
from test_ray import *
class Slow(Fatal):
    def part(self, rows):
        import time
        while True:
            time.sleep(0.1)
threading.Timer(float(sys.argv[2]), _thread.interrupt_main).start()
try:
    answers(Ray(sys.argv[1] or None, threads=1), Slow())
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("seconds", ["1", "15"])
def test_ctrl_c_ends_a_pass_without_a_word_of_ray(seconds):
    command = [sys.executable, "-c", PROGRAM, "", seconds]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parent)])}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100, env=environment)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
