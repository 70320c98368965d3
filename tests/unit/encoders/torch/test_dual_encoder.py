"""A dual encoder over a network of transformers: trained further, saved without it, read again."""

import shutil

import numpy as np
import pytest

pytest.importorskip("torch")

pytest.importorskip("transformers")

from xlingual.encoders import text_encoders
from xlingual.errors import DataWarning
from xlingual.records import Texts
from xlingual.training.options import FitOptions
from xlingual.training.parallel import ParallelQuestions
from xlingual.training.recipes.dual_options import DualOptions
from xlingual.workflows.train_dual_encoder import train_dual_encoder

ASKED = ["red chair?", "lamp?", "the long table?", "very red?"]
ANSWERS = ["a chair that is red", "the lamp", "a table", "red text"]
FIT = FitOptions(epochs=2, rate=1e-3, threads=1, device="cpu")


def questions(context=""):
    n = len(ASKED)
    places = np.arange(2 * n).reshape(n, 2)
    tags = ["en", "de"] * n
    return ParallelQuestions(
        source="made",
        languages=("en", "de"),
        ids=[str(i) for i in range(n)],
        cluster=np.arange(n),
        questions=Texts([t for text in ASKED for t in (text, f"{text} de")], tags, tags, role="query"),
        answers=Texts(
            [t for text in ANSWERS for t in (text, f"{text} de")],
            tags,
            tags,
            role="candidate",
            context=[context] * (2 * n) if context else (),
        ),
        answer_cluster=np.repeat(np.arange(n), 2),
        asked=places,
        first=np.arange(2 * n + 1),
        answered=places.ravel(),
    )


def read(path):
    return next(iter(text_encoders(f"model:{path}?device=cpu", languages=["en"]).values()))


@pytest.mark.parametrize("kind", ["bert", "xlmr", "distilbert"])
@pytest.mark.cases(1)
def test_begins_as_the_first_token_of_the_network(checkpoints, tmp_path, kind):
    """With a rate of almost nothing the vectors are those of hf:…?pool=cls, at unit length."""
    base = f"hf:{checkpoints(kind)}"
    fit = FitOptions(epochs=1, rate=1e-12, threads=1, device="cpu")
    trained = train_dual_encoder(questions(), tmp_path / "m", DualOptions(batch=4), base=base, fit=fit)
    batch = Texts(ASKED, ["en"] * 4, ASKED)
    (below,) = text_encoders(f"{base}?pool=cls&device=cpu", languages=["en"]).values()
    expected = below.encode(batch)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    encoder = read(trained.folder.path)
    assert np.allclose(encoder.encode(batch), expected, atol=1e-5)
    assert encoder.content == ("text",) and trained.folder.config["model"]["tower"] == "transformer"
    names = {path.name for path in (tmp_path / "m" / "network").iterdir()}
    assert "config.json" in names and not any(name.endswith((".safetensors", ".bin")) for name in names)


def test_trained_further_with_contexts_and_two_towers(checkpoints, tmp_path):
    options = DualOptions(batch=4, separate=True, max_length=12)
    data = questions("a very long text around the red chair and the lamp of the table")
    with pytest.warns(DataWarning, match="8 of 8 answers are longer than the 12 tokens"):
        trained = train_dual_encoder(data, tmp_path / "m", options, base=f"hf:{checkpoints('bert')}", fit=FIT)
    identity = f"model:dual-encoder:{trained.folder.digest[:16]}"
    shutil.move(tmp_path / "m", tmp_path / "moved")
    encoder = read(tmp_path / "moved")
    assert encoder.identity == identity
    assert encoder.content == ("text", "role", "context")
    query = encoder.encode(Texts(ANSWERS, ["en"] * 4, ANSWERS, role="query"))
    alone = encoder.encode(Texts(ANSWERS, ["en"] * 4, ANSWERS, role="candidate"))
    found = encoder.encode_noting(
        Texts(ANSWERS, ["en"] * 4, ANSWERS, role="candidate", context=["lamp", "", "red " * 20, ""])
    )
    assert found.truncated.tolist()[1:3] == [False, True]
    assert not np.allclose(query, alone) and not np.allclose(alone[0], found.vectors[0])
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)


def test_the_network_may_stay_as_it_is(checkpoints, tmp_path):
    base = f"hf:{checkpoints('bert')}?pool=cls"
    options = DualOptions(batch=4, hidden=8)
    trained = train_dual_encoder(
        questions(), tmp_path / "m", options, base=base, frozen=True, fit=FIT, store=None
    )
    assert trained.folder.config["model"]["tower"] == "vectors" and trained.folder.config["base"]["dim"] == 32
