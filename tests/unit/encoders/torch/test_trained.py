"""`model:`: trained models as encoders, and what is refused; dual encoders have a file of their own."""

import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual import Manifest  # noqa: E402
from xlingual.embed.sides import embed_images, embed_texts, image_vectors  # noqa: E402
from xlingual.encoders import Stacked, adopt, image_encoder, kind_of, text_encoders  # noqa: E402
from xlingual.errors import DataWarning, InputError  # noqa: E402
from xlingual.images import read_bytes  # noqa: E402
from xlingual.models.configs import MlmmeConfig, TripletConfig  # noqa: E402
from xlingual.models.folder import ModelFolder, write_model  # noqa: E402
from xlingual.models.mlmme import Mlmme  # noqa: E402
from xlingual.models.texts import Vocabulary  # noqa: E402
from xlingual.models.triplet import Triplet  # noqa: E402
from xlingual.records import Texts  # noqa: E402
from xlingual.store import Store  # noqa: E402

WORDS = {"en": ["a", "red", "chair", "blue", "table", "lamp"], "de": ["ein", "roter", "stuhl", "lampe"]}
ENGLISH = ["a red chair", "A blue TABLE!", "a lamp a lamp a lamp", "lamp", "a red chair"]


def model_at(path, base=None, seed=0, **more):
    """Write a small model with random weights and return its folder."""
    words = {tag: Vocabulary(tuple(some)) for tag, some in WORDS.items()}
    config = MlmmeConfig(
        **{
            "languages": tuple(WORDS),
            "vocabulary_sizes": {tag: len(one) for tag, one in words.items()},
            "picture_dim": None if base is None else base[1],
            "word_dim": 5,
            "state_dim": 6,
            "joint_dim": 4,
            "initial": "vsepp",
            **more,
        }
    )
    below = None if base is None else {"name": base[0], "identity": base[2], "dim": base[1]}
    described = {"kind": "mlmme", "model": config.to_dict(), "base": below}
    return write_model(path, described, Mlmme(config, seed).state_dict(), words)


class Base:
    """Image vectors that count how often they were asked for."""

    content = ("bytes",)

    def __init__(self, identity="counting:1", dim=3):
        self.identity, self.dim, self.asked = identity, dim, 0

    def encode(self, batch):
        self.asked += len(batch)
        return np.array(
            [[len(read_bytes(s)) ** i for i in range(self.dim)] for s in batch.source], np.float32
        )


def texts(*some, tag="en"):
    return Texts(list(some), [tag] * len(some), [str(i) for i in range(len(some))])


def encoder(spec, languages=("en", "de")):
    return next(iter(text_encoders(spec, languages=languages).values()))


def test_texts_are_those_of_the_network(tmp_path):
    folder = model_at(tmp_path / "m")
    network = Mlmme(MlmmeConfig.from_dict(folder.config["model"]), seed=0).eval()
    found = encoder(f"model:{folder.path}").encode(texts(*ENGLISH))
    numbers = torch.tensor([[2, 3, 4], [2, 5, 6], [2, 7, 0]])
    expected = network.texts("en", numbers, torch.tensor([3, 3, 2])).detach().numpy()
    np.testing.assert_allclose(found[[0, 1]], expected[:2], atol=1e-6)
    np.testing.assert_array_equal(found[0], found[4])
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_images_stand_on_the_encoder_that_was_trained_on(tmp_path):
    base = Base()
    folder = model_at(tmp_path / "m", ("pixels", 3, base.identity))
    made = trained_on(folder, base)
    assert isinstance(made, Stacked)
    assert made.identity == f"model:mlmme:{folder.digest[:16]}::{base.identity}"
    assert made.space == encoder(f"model:{folder.path}").space == folder.digest
    vectors = np.array([[1, 2, 3], [0, 0, 0], [10, 20, 30]], dtype=np.float32)
    network = Mlmme(MlmmeConfig.from_dict(folder.config["model"]), seed=0).eval()
    found = made.apply(vectors)
    np.testing.assert_allclose(found, network.images(torch.tensor(vectors)).detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(found[2], found[0], atol=1e-6)
    assert not found[1].any()


def trained_on(folder, base):
    """Return the image encoder of a model on a base that no spec can name."""
    from xlingual.encoders.scheme import Context
    from xlingual.encoders.trained import build

    options = {"batch": 128, "device": "cpu", "base": "same"}
    return build(str(folder.path), options, Context((), kind="images", base=adopt(base)))


def manifest(tmp_path, count=9):
    paths = []
    for i in range(count):
        (tmp_path / f"{i}.png").write_bytes(b"x" * (i % 5 + 1))
        paths.append(str(tmp_path / f"{i}.png"))
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{WORDS[tag][i % 4]} {WORDS[tag][0]}", "image": path}
        for tag in WORDS
        for i, path in enumerate(paths)
    ]
    return Manifest.of(rows)


def test_images_are_encoded_once_over_runs_and_models(tmp_path):
    base, store, data = Base(), Store(tmp_path / "store"), manifest(tmp_path)
    rows = np.arange(len(data))
    for seed in (0, 1, 0):
        folder = model_at(tmp_path / f"m{seed}", ("pixels", 3, base.identity), seed=seed)
        image = trained_on(folder, base)
        found = image_vectors(data, "m", image, rows, store=store)
        np.testing.assert_allclose(found, image.apply(Base().encode(data.images(rows))), atol=1e-6)
    assert base.asked == len(embed_images(data, "m", image, rows, store=store)) == 5  # of different bytes


def test_texts_are_kept_and_what_is_unknown_is_reported(tmp_path):
    folder, store = model_at(tmp_path / "m"), Store(tmp_path / "store")
    words = [("en", "a red zebra"), ("en", "zebra"), ("de", "ein"), ("en", "!?"), ("en", "a")]
    data = Manifest.of([{"id": str(i), "lang": tag, "text": text} for i, (tag, text) in enumerate(words)])
    rows = np.arange(5)
    with pytest.warns(DataWarning) as caught:
        first = embed_texts(data, "m", encoder(f"model:{folder.path}"), rows, store=store).vectors
    assert any("en 40 %" in str(one.message) for one in caught)
    with pytest.warns(DataWarning, match="all-zero"):
        again = embed_texts(data, "m", encoder(f"model:{folder.path}"), rows, store=store).vectors
    np.testing.assert_array_equal(first, again)


def test_another_base_may_be_trusted_where_its_vectors_fit(tmp_path):
    folder = model_at(tmp_path / "m", ("fc7", 3, "vgg"))
    np.save(tmp_path / "fits.npy", np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1]])
    np.save(tmp_path / "wide.npy", np.eye(5, dtype=np.float32))
    data = Manifest.of([{"id": str(i), "lang": "en", "text": "a", "item": i} for i in range(5)])
    for name in ("fits", "wide"):
        _, image = image_encoder(f"model:{folder.path}?base=trusted::vectors:{tmp_path}/{name}.npy")
        if name == "fits":
            assert image_vectors(data, "m", image, np.arange(5)).shape == (5, 4)
            assert image.opens_images is False
        else:
            with pytest.raises(InputError, match=r"takes vectors of 3 dimensions.*gives 5"):
                image_vectors(data, "m", image, np.arange(5))


def damaged_vocabulary(folder):
    (folder.path / "vocabulary.en.txt").write_text("a\n")


def without_a_vocabulary(folder):
    (folder.path / "vocabulary.en.txt").unlink()


def other_weights(folder):
    write_model(folder.path, {**folder.config}, {"text.weight": torch.zeros(2, 2)}, words_of(folder))


def unknown_option(folder):
    config = {**folder.config, "model": {**folder.config["model"], "heads": 3}}
    write_model(folder.path, config, folder.weights(), words_of(folder))


def words_of(folder):
    return {tag: folder.vocabulary(tag) for tag in WORDS}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (damaged_vocabulary, "the vocabulary of en has 1 words, its config.json says 6"),
        (without_a_vocabulary, r"vocabulary\.en\.txt: the vocabulary is missing"),
        (other_weights, r"its weights do not fit its config\.json"),
        (unknown_option, r"its config\.json does not describe such a model .*heads"),
    ],
)
def test_a_damaged_model_is_refused_in_one_line(tmp_path, damage, said):
    folder = model_at(tmp_path / "m")
    damage(folder)
    with pytest.raises(InputError, match=said) as raised:
        encoder(f"model:{folder.path}").encode(texts("a"))
    assert "\n" not in str(raised.value)


def test_a_model_that_is_trained_anew_while_it_is_read_is_noticed(tmp_path):
    folder = model_at(tmp_path / "m")
    made = encoder(f"model:{folder.path}")
    model_at(tmp_path / "m", seed=1)
    with pytest.raises(InputError, match="changed while it was read"):
        made.encode(texts("a"))
    assert ModelFolder.read(folder.path).digest != made.space


SPEC = "random:?dim=8"


def triplet_at(path, spec=SPEC, **more):
    config = TripletConfig(8, 6, 5, **more)
    base = {"name": "random", "identity": encoder(spec).identity, "dim": 8}
    described = {"kind": "triplet", "model": config.to_dict(), "base": base}
    return write_model(path, described, Triplet(config, 1).state_dict())


def titled(count=4, title="title {}"):
    rows = [{"id": str(i), "lang": ("en", "de")[i % 2], "text": f"text {i}. More {i}"} for i in range(count)]
    return Manifest.of([row | {"title": title.format(i), "body": f"body {i}"} for i, row in enumerate(rows)])


@pytest.mark.parametrize("split", [None, "first-sentence"])
def test_a_triplet_gives_the_vectors_of_the_network(tmp_path, split):
    folder, rows = triplet_at(tmp_path / "m", split=split), titled().texts(np.arange(4))
    titles, bodies = rows.fields["title"], rows.fields["body"]
    if split:
        titles, bodies = zip(
            *((f"{a}.", b) for a, b in (text.split(". ") for text in rows.text)), strict=True
        )
    network = Triplet(TripletConfig.from_dict(folder.config["model"]), seed=1)
    halves = [torch.tensor(encoder(SPEC).encode(replace(rows, text=list(part)))) for part in (titles, bodies)]
    made = encoder(f"model:{folder.path}::{SPEC}")
    assert made.identity == f"model:triplet:{folder.digest[:16]}::{encoder(SPEC).identity}"
    assert kind_of(made) == {"kind": "fitted"}
    np.testing.assert_allclose(made.encode(rows), network.represent(*halves).detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("below", ["", f"::{SPEC}&seed=1", "?base=trusted::random:?dim=9"])
def test_other_bases_are_refused(tmp_path, below):
    triplet_at(tmp_path / "m")
    with pytest.raises(InputError, match="trained on"):
        encoder(f"model:{tmp_path / 'm'}{below}").encode(titled().texts(np.arange(4)))


VALUES = [10**12, -1, 1e300, None, [], {}, "x", True, {"a": {"b": []}}, "\ud800"]
HOSTILE = [b"", b"{", b"[" * 100_000, b'{"a": ' * 60_000, b"3", b'{"kind": ["x"]}', b"\xff"]


@pytest.mark.parametrize("seed", range(12))
def test_hostile_settings_are_one_line_or_a_model(tmp_path, seed):
    below = f"::{SPEC}" if seed % 2 else ""
    (triplet_at if below else model_at)(tmp_path)
    rng, path = np.random.default_rng(seed), tmp_path / "config.json"
    before = path.read_text()
    for _ in range(8):
        content = json.loads(before)
        part = content if rng.random() < 0.4 else content["model"]
        name = sorted(part)[rng.integers(len(part))]
        part[name] = VALUES[rng.integers(len(VALUES))]
        if rng.random() < 0.2:
            del part[name]
        path.write_text(json.dumps(content))
        if rng.random() < 0.2:
            path.write_bytes(HOSTILE[rng.integers(len(HOSTILE))])
        with suppress(InputError):
            encoder(f"model:{tmp_path}{below}", languages=["en"]).encode(titled(1).texts(np.arange(1)))
