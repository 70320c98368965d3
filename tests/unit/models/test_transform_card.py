"""The card of a transform: what it is, how it is used, and how it was chosen and tested; without torch."""

import json
import subprocess
import sys

import numpy as np

from xlingual.models.card import card, languages, parameters, signature
from xlingual.models.folder import ModelFolder, write_model
from xlingual.results.repair import Change, Hubs, PartSize, Repair, TriedRepair
from xlingual.results.values import Interval


def folder(path, places=("de", "en"), similarity="csls?k=10", bank=7):
    n = len(places)
    arrays = {"offset": np.zeros((n, 2), np.float32), "matrix": np.ones((n, 3, 2), np.float32)}
    if bank:
        arrays["bank"] = np.ones((bank, 2), np.float32)
        arrays["fitted_on"] = np.zeros((9, 16), np.uint8)
    content = {
        "kind": "transform",
        "model": {"languages": list(places), "transforms": "whiten:", "similarity": similarity},
        "base": {"name": "e5", "identity": "st:1", "dim": 3, "languages": ["de", "en", "fr"]},
        "data": {"source": "p.parquet", "digest": "abc"},
    }
    return write_model(path, content, arrays)


def change(source="all", target="pool", after=0.5):
    ci = Interval(low=after - 0.45, high=after - 0.35, level=0.95, method="max-t")
    return Change(source, target, 0.4, after, after - 0.4, ci, 0.0, 0.01, 90, 45)


def repair_encoder(chosen="whiten:", similarity="csls?k=10", data="abc", outcome="better", **more):
    return Repair(
        encoder="e5",
        spec=None,
        dim=3,
        criterion="mAP",
        alpha=0.05,
        delta=0.01,
        fit=PartSize(40, 80, 100),
        choose=PartSize(20, 50, 60),
        test=PartSize(45, 90, 99),
        tried=[TriedRepair(chosen, similarity, 0.6), TriedRepair("none", "cosine", 0.4)],
        left_out=[],
        chosen=chosen,
        similarity=similarity,
        outcome=outcome,
        whole=change(),
        p=0.001,
        languages=[change("de"), change("en")],
        pairs=[change("de", "en", 0.45), change("en", "de", 0.39)],
        monolingual=[],
        bias=None,
        hubs=Hubs(10, 2.0, 1.0),
        harmless=False,
        p_harmed=0.3,
        conditions={"data": data},
        **more,
    )


def test_one_map_for_all_languages_is_said_so(tmp_path):
    alike = folder(tmp_path / "m", (None,), "cosine", bank=0)
    text = card(alike).markdown()
    assert "--offsets" not in text and "training questions" not in text
    assert languages(alike.config) == ("de", "en", "fr")
    assert parameters(alike) == 2 + 6
    others = folder(tmp_path / "o", ("fr", None))
    assert languages(others.config) == ("de", "en", "fr")
    assert parameters(others) == 2 * (2 + 6)  # neither training questions nor digests of texts
    assert str(signature(others)) != str(signature(alike))


def test_show_needs_no_torch(tmp_path):
    made = folder(tmp_path / "model")
    repair_encoder().write(tmp_path)
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from xlingual.cli.main import main\n"
        f"sys.argv = ['xlingual', 'model', 'show', {str(made.path)!r}]\nmain()"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert json.loads((made.path / "config.json").read_text())["kind"] == "transform"
    assert ModelFolder.read(made.path).digest == made.digest
