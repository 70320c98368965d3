"""`xlingual embed --backend ray`: the same vectors under the same keys, also when copies are lost."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ENCODER = '''
import hashlib, os, pathlib
import numpy as np

class Mine:
    """Gives each text a vector of its own; the first copy to encode the text that holds "kill" is killed."""
    content = ("text",)

    def __init__(self):
        self.identity = "mine:" + os.environ.get("MINE_REVISION", "1")
        if "ray::" in " ".join(open("/proc/self/cmdline").read().split("\\0")) and os.path.exists("other"):
            self.identity += "-other"

    def encode(self, texts):
        for text in texts.text:
            if "kill" in text and not os.path.exists("killed"):
                pathlib.Path("killed").write_text("")
                os._exit(1)
        pathlib.Path("log").mkdir(exist_ok=True)
        with open(f"log/{os.getpid()}", "a") as log:
            log.writelines(text + "\\n" for text in texts.text)
        seeds = [int.from_bytes(hashlib.blake2b(t.encode(), digest_size=4).digest(), "big") for t in texts.text]
        return np.stack([np.random.default_rng(seed).standard_normal(8) for seed in seeds]).astype(np.float32)

mine = Mine()
'''


@pytest.fixture
def work(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    Path("mine.py").write_text(ENCODER)
    rows = [f"{lang}{i},{lang},{'kill' if i == 1500 else 'text'} {lang} {i}" for lang in ("en", "de") for i in range(2000)]
    Path("texts.csv").write_text("\n".join(["id,lang,text", *rows]) + "\n")
    return tmp_path


def embed(out, store, *more):
    command = [sys.executable, "-m", "xlingual", "embed", "texts.csv", "--text-encoder", "python:mine.py:mine"]
    return subprocess.run(
        [*command, "--out", out, "--store", store, *more], capture_output=True, text=True, check=False
    )


def vectors(out):
    return {path.name: np.load(path).tolist() for path in Path(out).glob("*.npy")}


def test_a_copy_that_is_lost_changes_no_vector(work):
    done = embed("a", "store", "--backend", "ray", "--workers", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("killed").exists()
    logs = {path.name: path.read_text().splitlines() for path in Path("log").iterdir()}
    assert len(logs) == 3  # two copies, and the one in place of that which was killed
    texts = [text for lines in logs.values() for text in lines]
    assert len(texts) < 4600 and len(set(texts)) == 4000
    here = embed("b", "other-store")
    assert (here.returncode, here.stderr) == (0, "")
    assert vectors("a") == vectors("b")
    again = embed("c", "store")  # without Ray: everything is in the store
    assert again.returncode == 0
    assert vectors("c") == vectors("a")
    after = [text for path in Path("log").iterdir() for text in path.read_text().splitlines()]
    assert len(after) == len(texts) + 4000  # those of "other-store" alone


def test_another_encoder_on_a_machine_is_refused(work):
    Path("other").write_text("")
    done = embed("a", "store", "--backend", "ray")
    assert done.returncode == 2
    assert done.stderr.startswith("error: encoder 'mine' is mine:1-other on a machine of the cluster and mine:1 here")
    assert done.stderr.count("\n") == 1


def test_options_of_clusters_need_a_cluster(work):
    done = embed("a", "store", "--workers", "2")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--address and --workers are of clusters: add --backend ray" in done.stderr
