"""Ranking by Ray itself: on one machine, on two of which one is lost, after the program was killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

pytestmark = pytest.mark.slow
UNIT = Path(__file__).parents[1] / "unit" / "ranking" / "cluster"
passes = SimpleNamespace(**run_path(str(UNIT / "passes.py")))


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        yield


@pytest.fixture
def ray():
    import ray

    yield ray
    ray.shutdown()


@pytest.fixture
def two_machines(ray):
    """Give a cluster of a head that computes nothing and of two machines."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    machines = [cluster.add_node(num_cpus=1) for _ in range(2)]
    yield cluster, machines
    ray.shutdown()
    cluster.shutdown()


def ranked(made, whole, progress=None):
    reductions = passes.requests(whole)
    made.scan(whole, reductions, progress=progress)
    return passes.found(reductions)


def test_one_machine_gives_what_cpu_gives(ray, tmp_path):
    from xlingual.ranking.cluster import RayRanker

    whole = passes.similarity(300, 200, 16)
    made = RayRanker(shared=tmp_path / "shared", cores=2, sides=(90, 60))
    assert ranked(made, whole) == passes.expected(whole)
    assert made.made == 4 * 5  # of each shard of queries, four pairs and a merge
    assert made.about() == {"backend": "ray", "machines": 1}
    made.forget()
    assert not (tmp_path / "shared").exists()


def test_a_machine_that_is_lost_changes_nothing(two_machines, tmp_path):
    from xlingual.ranking.cluster import RayRanker

    cluster, machines = two_machines
    whole = passes.similarity(2000, 1500, 32)
    made = RayRanker(cluster.address, tmp_path, sides=(200, 100))
    killed = threading.Event()

    def kill(done, total):
        if done > total // 4 and not killed.is_set():
            killed.set()
            cluster.remove_node(machines[1], allow_graceful=False)

    assert ranked(made, whole, progress=kill) == passes.expected(whole)
    assert killed.is_set()
    assert made.machines == 2


PROGRAM = """
import sys, time
from runpy import run_path
from xlingual.ranking.cluster import RayRanker
passes = run_path(sys.argv[1])
whole = passes["similarity"](1500, 1500, 64)
made = RayRanker(shared=sys.argv[2], cores=1, sides=(250, 100))
reductions = passes["requests"](whole)
made.scan(whole, reductions, progress=lambda done, total: print(done, flush=True))
assert passes["found"](reductions) == passes["expected"](whole)
print("found", made.found, "made", made.made, flush=True)
"""


def test_a_program_that_was_killed_goes_on_where_it_stopped(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(UNIT / "passes.py"), str(tmp_path)]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    for line in first.stdout:
        if int(line) > 1500 * 300:
            break
    first.send_signal(signal.SIGKILL)
    first.wait()
    deadline = time.monotonic() + 30
    before = -1
    while (
        before != (before := len(list((tmp_path / "parts").glob("*-*-*.npz"))))
        and time.monotonic() < deadline
    ):
        time.sleep(1)  # what Ray had begun comes to its end
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    words = done.stdout.split()
    found, made = int(words[words.index("found") + 1]), int(words[words.index("made") + 1])
    assert found >= 15
    assert found + made >= 15 * 6 and made < 15 * 6 + 6 - 15 + 1
    assert done.stderr == ""


@pytest.mark.parametrize("interrupt", ["never", "at the start", "in the pass"])
def test_the_command_line_says_nothing_of_ray(tmp_path, interrupt):
    rng = np.random.default_rng(0)
    n = 400 if interrupt == "never" else 20_000
    manifest = tmp_path / "texts.csv"
    rows = [f"{i}-{lang},{lang},text {i} {lang},item{i}" for lang in ("en", "de") for i in range(n)]
    manifest.write_text("\n".join(["id,lang,text,item", *rows]) + "\n")
    for lang in ("en", "de"):
        np.save(tmp_path / f"v.{lang}.npy", rng.standard_normal((n, 256)).astype(np.float32))
    command = [
        sys.executable,
        "-m",
        "xlingual",
        "evaluate",
        "xlr",
        str(manifest),
        "--no-store",
        "--pairs",
        "en-de",
    ]
    command += ["--text-encoder", str(tmp_path / "v.{lang}.npy"), "--backend", "ray", "--threads", "1"]
    command += ["--json", "--shared", str(tmp_path / "shared")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = subprocess.Popen(command, **pipes, text=True, start_new_session=True)
    if interrupt == "at the start":
        time.sleep(3)
    elif interrupt == "in the pass":
        deadline = time.monotonic() + 60
        while not list((tmp_path / "shared").glob("parts/*.npz")) and time.monotonic() < deadline:
            time.sleep(0.1)
    if interrupt != "never":
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    out, told = running.communicate(timeout=120)
    if interrupt != "never":
        assert (running.returncode, told) == (130, "error: interrupted\n")
        assert interrupt == "at the start" or list((tmp_path / "shared" / "parts").iterdir())
    else:
        assert (running.returncode, told) == (0, "")
        assert '"backend": "ray"' in out
        assert not (tmp_path / "shared").exists()
