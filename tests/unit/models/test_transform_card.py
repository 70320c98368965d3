"""The card of a transform: what it is, how it is used, and how it was chosen and tested; without torch."""

import json
import subprocess
import sys

import numpy as np
import pytest

from xlingual.errors import InputError
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


def test_it_says_what_the_transform_is_and_how_it_is_used(tmp_path):
    text = card(folder(tmp_path / "m")).markdown()
    for part in (
        "# Repair of e5, fitted on p.parquet",
        "a map for each language (de, en)",
        "nothing was trained",
        "correction of hubs csls?k=10",
        "--text-encoder model:DIR::SPEC",
        "model export DIR --to safetensors",
        "--offsets",
        "| dimensions | 3 → 2 |",
        "| training questions | 7 |",
        "were fitted on equal data",
    ):
        assert part in text
    assert "How it was chosen" not in text and "trained on" not in text and "None" not in text
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_one_map_for_all_languages_is_said_so(tmp_path):
    alike = folder(tmp_path / "m", (None,), "cosine", bank=0)
    text = card(alike).markdown()
    assert "the same map for all languages" in text and "| languages | all |" in text
    assert "--offsets" not in text and "training questions" not in text
    assert languages(alike.config) == ("de", "en", "fr")
    assert parameters(alike) == 2 + 6
    others = folder(tmp_path / "o", ("fr", None))
    assert "(fr and all others)" in card(others).markdown()
    assert languages(others.config) == ("de", "en", "fr")
    assert parameters(others) == 2 * (2 + 6)  # neither training questions nor digests of texts
    assert str(signature(others)) != str(signature(alike))


def test_the_repair_that_lies_beside_it_says_how_it_was_chosen_and_tested(tmp_path):
    made = folder(tmp_path / "model")
    repair_encoder().write(tmp_path)
    text = card(made).markdown()
    for part in (
        "Fitted on 80 questions and 100 candidates; of 1 repairs",
        "on 50 other questions",
        "tested once, on 90",
        "the test shows that it makes the encoder better",
        "It is not shown that every language pair loses less than 0.01",
        "| mAP, all languages | 0.400 → 0.500, +0.100 [+0.050, +0.150] |",
        "| questions in en |",
        "| worst pair, en → de | 0.400 → 0.390, -0.010",
    ):
        assert part in text
    assert card(made, repair=repair_encoder()).markdown() == text


@pytest.mark.parametrize(
    ("outcome", "caution"),
    [
        ("better", None),
        ("cannot tell", "It is not shown to help: leave the encoder as it is, or test on more data."),
        ("worse", "It makes the encoder worse: leave the encoder as it is."),
    ],
)
def test_what_is_not_shown_to_help_is_not_recommended(tmp_path, outcome, caution):
    what, use, *_ = card(folder(tmp_path / "m"), repair=repair_encoder(outcome=outcome)).sections
    assert use.title == "How to use it"
    assert [one for one in what.sentences if "leave the encoder" in one] == [one for one in [caution] if one]


@pytest.mark.parametrize("other", [{"chosen": "centre:"}, {"similarity": "cosine"}, {"data": "xyz"}])
def test_the_repair_of_another_model_says_nothing(tmp_path, other):
    made = folder(tmp_path / "model")
    repair_encoder(**other).write(tmp_path)
    assert "How it was chosen" not in card(made).markdown()
    (tmp_path / "repair.json").write_text("{")
    assert "How it was chosen" not in card(made).markdown()


def test_the_folder_above_it_is_no_model(tmp_path):
    folder(tmp_path / "model")
    with pytest.raises(InputError, match=r"its model is the folder .*model: give that one"):
        ModelFolder.read(tmp_path)


def test_show_needs_no_torch(tmp_path):
    made = folder(tmp_path / "model")
    repair_encoder().write(tmp_path)
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from xlingual.cli.main import main\n"
        f"sys.argv = ['xlingual', 'model', 'show', {str(made.path)!r}]\nmain()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "makes the encoder better" in ran.stdout, ran.stderr
    assert json.loads((made.path / "config.json").read_text())["kind"] == "transform"
    assert ModelFolder.read(made.path).digest == made.digest
