"""`model:DIR::SPEC` of a Triplet: title and body through one encoder, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual import Manifest  # noqa: E402
from xlingual.embed.sides import embed_texts  # noqa: E402
from xlingual.encoders import Encoder, Stacked, adopt, kind_of, text_encoders  # noqa: E402
from xlingual.errors import DataWarning, InputError  # noqa: E402
from xlingual.models.folder import write_model  # noqa: E402
from xlingual.models.triplet import Triplet, TripletConfig  # noqa: E402
from xlingual.store import Store  # noqa: E402

SPEC = "random:?dim=8"


def encoder(spec, **more):
    return next(iter(text_encoders(spec, languages=("en", "de"), **more).values()))


def model_at(path, spec=SPEC, dim=8, identity=None, **more):
    config = TripletConfig(dim, 6, 5, **more)
    base = {"name": "random", "identity": identity or encoder(spec).identity, "dim": dim}
    described = {"kind": "triplet", "model": config.to_dict(), "base": base}
    return write_model(path, described, Triplet(config, 1).state_dict())


def manifest(**columns):
    rows = [
        {"id": f"r{i}", "lang": tag, "text": f"text {i}. More {i}"}
        | {name: columns.get(name, f"{name} {{}}".format)(i) for name in ("title", "body")}
        for i, tag in enumerate(["en", "de", "en", "de"])
    ]
    return Manifest.of(rows)


def base_of(texts, rows):
    batch = rows.texts(np.arange(len(rows)))
    return torch.tensor(encoder(SPEC).encode(replace(batch, text=texts)))


@pytest.mark.parametrize(("split", "cut"), [(None, None), ("first-sentence", ". ")])
def test_vectors_are_those_of_the_network(tmp_path, split, cut):
    folder, rows = model_at(tmp_path / "m", split=split), manifest()
    titles, bodies = rows.fields["title"], rows.fields["body"]
    if split:
        titles, bodies = zip(*((f"{a}.", b) for a, b in (text.split(cut) for text in rows.text)), strict=True)
    network = Triplet(TripletConfig.from_dict(folder.config["model"]), seed=1)
    expected = network.represent(base_of(list(titles), rows), base_of(list(bodies), rows)).detach().numpy()
    made = encoder(f"model:{folder.path}::{SPEC}")
    assert (
        isinstance(made, Stacked)
        and made.identity == f"model:triplet:{folder.digest[:16]}::{encoder(SPEC).identity}"
    )
    np.testing.assert_allclose(made.encode(rows.texts(np.arange(4))), expected, atol=1e-6)
    found = embed_texts(rows, "m", made, np.arange(4), store=Store(tmp_path / "store"))
    np.testing.assert_allclose(found.vectors, expected, atol=1e-6)


def test_what_the_encoder_below_is_asked_for_is_asked_through_the_model(tmp_path):
    model_at(tmp_path / "m")

    class Base(Encoder):
        identity, fitted_on, depends_on_batch = encoder(SPEC).identity, frozenset({b"x"}), True
        fitted = 0

        def encode(self, batch):
            return np.zeros((len(batch), 8), dtype=np.float32)

        def fit_model(self):
            self.fitted += 1

        def check_languages(self, tags):
            raise InputError("not in xx")

    from xlingual.encoders.scheme import Context
    from xlingual.encoders.trained import build

    base, options = Base(), {"batch": 128, "device": "cpu", "base": "same"}
    made = build(str(tmp_path / "m"), options, Context((), base=adopt(base)))
    made.fit_model()
    assert (made.fitted_on, made.depends_on_batch, base.fitted) == ({b"x"}, True, 1)
    with pytest.raises(InputError, match="not in xx"):
        made.check_languages(["xx"])


def test_texts_without_a_title_are_reported(tmp_path):
    folder, rows = model_at(tmp_path / "m"), manifest(title=lambda i: "" if i == 1 else f"title {i}")
    made = encoder(f"model:{folder.path}::{SPEC}")
    with pytest.warns(DataWarning, match="1 of 4 texts have an empty title or body"):
        found = embed_texts(rows, "m", made, np.arange(4)).vectors
    np.testing.assert_allclose(found[1, :5], found[1, 5:], atol=1e-6)  # the body stands for both
    assert made.notes() == []


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("model:{m}", r"needs the encoder below it.*it was trained on random \(8 dimensions\)"),
        ("model:{m}::random:?dim=8&seed=1", "was trained on another encoder"),
        ("model:{m}?base=trusted::random:?dim=9", "takes vectors of 8 dimensions.* gives 9"),
    ],
)
def test_other_bases_are_refused(tmp_path, spec, said):
    model_at(tmp_path / "m")
    with pytest.raises(InputError, match=said):
        encoder(spec.format(m=tmp_path / "m")).encode(manifest().texts(np.arange(4)))


def test_it_is_known_to_be_fitted_on_top_of_another(tmp_path):
    assert kind_of(encoder(f"model:{model_at(tmp_path / 'm').path}::{SPEC}")) == {"kind": "fitted"}
