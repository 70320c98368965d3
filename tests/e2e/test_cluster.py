"""Ranking by Ray itself, from the command line: on one machine, also when it is interrupted."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("interrupt", [False, True])
def test_the_command_line_says_nothing_of_ray(tmp_path, interrupt):
    pytest.importorskip("ray")
    rng, n = np.random.default_rng(0), 400
    rows = [f"{i}-{lang},{lang},text {i} {lang},item{i}" for lang in ("en", "de") for i in range(n)]
    (tmp_path / "texts.csv").write_text("\n".join(["id,lang,text,item", *rows]) + "\n")
    for lang in ("en", "de"):
        np.save(tmp_path / f"v.{lang}.npy", rng.standard_normal((n, 256)).astype(np.float32))
    command = [sys.executable, "-m", "xlingual", "evaluate", "xlr", str(tmp_path / "texts.csv"), "--no-store"]
    command += ["--pairs", "en-de", "--text-encoder", str(tmp_path / "v.{lang}.npy"), "--json"]
    command += ["--backend", "ray", "--threads", "1"]
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = subprocess.Popen(command, **pipes, text=True, start_new_session=True, env=environment)
    if interrupt:
        time.sleep(3)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    out, told = running.communicate(timeout=120)
    if interrupt:
        assert (running.returncode, told) == (130, "error: interrupted\n")
    else:
        assert (running.returncode, told) == (0, "")
        assert '"backend": "ray"' in out
