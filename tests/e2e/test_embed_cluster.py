"""`xlingual embed --backend ray`: the same vectors under the same keys, also when copies are lost."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ENCODER = '''
import hashlib, os, pathlib, sys
import numpy as np

class Mine:
    """Gives each text a vector of its own; the first copy to encode the text that holds "kill" is killed."""
    content = ("text",)

    @property
    def identity(self):
        elsewhere = "default_worker" in getattr(sys.modules["__main__"], "__file__", "")
        return "mine:1-other" if elsewhere and os.path.exists("other") else "mine:1"

    def encode(self, texts):
        for text in texts.text:
            if "kill" in text and not os.path.exists("killed"):
                pathlib.Path("killed").write_text("")
                os._exit(1)
        pathlib.Path("log").mkdir(exist_ok=True)
        with open(f"log/{os.getpid()}", "a") as log:
            log.writelines(text + "\\n" for text in texts.text)
        digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts.text]
        return np.array([list(digest) for digest in digests], dtype=np.float32) - 127

mine = Mine()
'''


@pytest.fixture
def work(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    Path("mine.py").write_text(ENCODER)
    Path("program.py").write_text(PROGRAM)
    numbers = [(lang, i) for lang in ("en", "de") for i in range(2000)]
    rows = [f"{lang}{i},{lang},{'kill' if i == 1500 else 'text'} {lang} {i}" for lang, i in numbers]
    Path("texts.csv").write_text("\n".join(["id,lang,text", *rows]) + "\n")
    return tmp_path


PROGRAM = """
import sys
from mine import mine
from xlingual import Manifest
from xlingual.embed.encoder_pool import EncoderPool
from xlingual.errors import XlingualError
from xlingual.workflows.embed import embed
out, store, where = sys.argv[1:]
crew = EncoderPool(workers=2, cores=2) if where == "ray" else None
try:
    embed(Manifest.read("texts.csv"), out, text_encoders={"mine": mine}, store=store, crew=crew)
except XlingualError as error:
    sys.exit(f"error: {error}")
"""


def embed(out, store, where):
    return subprocess.run(
        [sys.executable, "program.py", out, store, where], capture_output=True, text=True, check=False
    )


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "xlingual", "embed", "texts.csv", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def vectors(out):
    return {path.name: np.load(path).tolist() for path in Path(out).glob("*.npy")}


def test_a_copy_that_is_lost_changes_no_vector(work):
    done = embed("a", "store", "ray")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert Path("killed").exists()
    logs = {path.name: path.read_text().splitlines() for path in Path("log").iterdir()}
    assert 1 <= len(logs) <= 3  # two copies, and the one in place of that which was killed
    texts = [text for lines in logs.values() for text in lines]
    assert len(texts) < 4600 and len(set(texts)) == 4000
    here = embed("b", "other-store", "here")
    assert (here.returncode, here.stderr) == (0, "")
    assert vectors("a") == vectors("b")
    again = embed("c", "store", "here")  # without Ray: everything is in the store
    assert again.returncode == 0
    assert vectors("c") == vectors("a")
    after = [text for path in Path("log").iterdir() for text in path.read_text().splitlines()]
    assert len(after) == len(texts) + 4000  # those of "other-store" alone


def test_another_encoder_on_a_machine_is_refused(work):
    Path("other").write_text("")
    done = embed("a", "store", "ray")
    said = "error: encoder 'mine' is mine:1-other on a machine of the cluster and mine:1 here"
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


def test_the_command_line_computes_by_ray_what_it_computes_here(work):
    rng = np.random.default_rng(0)
    words = ["kill", "text", "en", "de", *map(str, range(1900))]
    lines = [f"{word} " + " ".join(f"{x:.4f}" for x in rng.standard_normal(8)) for word in words]
    Path("words.vec").write_text("\n".join([f"{len(lines)} 8", *lines]) + "\n")
    spec = ("--text-encoder", "wordvec:words.vec?weight=mean", "--store", "store")
    by_ray = command(*spec, "--out", "a", "--backend", "ray", "--workers", "2")
    assert by_ray.returncode == 0, by_ray.stderr
    assert "mine" not in by_ray.stderr and "ray" not in by_ray.stderr.lower()
    here = command("--text-encoder", "wordvec:words.vec?weight=mean", "--no-store", "--out", "b")
    assert here.returncode == 0, here.stderr
    assert vectors("a") == vectors("b")
    kept = command(*spec, "--out", "c")
    assert (kept.returncode, kept.stderr) == (0, "")
    assert vectors("c") == vectors("a")


def test_options_of_clusters_need_a_cluster(work):
    done = command("--text-encoder", "wordvec:words.vec?weight=mean", "--out", "a", "--workers", "2")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
