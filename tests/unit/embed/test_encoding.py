"""Nothing is encoded twice, what was computed stays, and no answer of an encoder is trusted."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from xlingual import Manifest, crosslingual_retrieval
from xlingual.embed import encoding as module
from xlingual.embed.encoding import Spent, VectorSource, encode, is_kept
from xlingual.embed.sides import embed_images, embed_roles, embed_texts, image_vectors
from xlingual.encoders import Encoder, Stacked, adopt, image_encoder, text_encoders
from xlingual.errors import DataWarning, InputError, XlingualError
from xlingual.records import Encoded, Texts, content_keys
from xlingual.store import Collection, Store, holdings

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def vector_of(text):
    return [len(text) + 1, sum(map(ord, text)) % 97, ord((text or "x")[0])]


class Counting:
    """Gives vectors that depend on the text alone, and remembers what it was asked."""

    identity, content, fails_after = "counting:1", ("text",), None

    def __init__(self, **more):
        self.asked = []
        self.__dict__.update(more)

    def encode(self, batch):
        if len(self.asked) == self.fails_after:
            raise KeyboardInterrupt
        self.asked.append(list(batch.text))
        return np.array([vector_of(text) for text in batch.text], dtype=np.float32).reshape(-1, 3)

    @property
    def texts(self):
        return [text for batch in self.asked for text in batch]


class Noting(Counting):
    def encode(self, batch):
        return Encoded(super().encode(batch), np.array([len(text) > 5 for text in batch.text]))


def manifest_of(*languages, words=WORDS):
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{word} {tag if tag != 'same' else ''}".strip(), "item": i}
        for tag in languages
        for i, word in enumerate(words)
    ]
    return Manifest.of(rows)


def embedded(manifest, encoder, store=None, **more):
    return embed_texts(manifest, "x", adopt(encoder), np.arange(len(manifest)), store=store, **more).vectors


def expected(manifest):
    return np.array([vector_of(text) for text in manifest.text], dtype=np.float32)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.mark.parametrize("stored", [False, True])
def test_equal_texts_are_encoded_once(store, stored):
    manifest = manifest_of("en", "same", "de", words=[*WORDS, *WORDS])
    encoder = Counting()
    vectors = embedded(manifest, encoder, store if stored else None)
    np.testing.assert_array_equal(vectors, expected(manifest))
    assert sorted(encoder.texts) == sorted(set(manifest.text))


def test_other_manifests_and_tasks_are_served_and_other_encoders_never(store):
    embedded(manifest_of("en", "de"), Counting(), store)
    encoder, other = Counting(), manifest_of("de", words=WORDS[::-1])
    np.testing.assert_array_equal(embedded(other, encoder, Store(store.root)), expected(other))
    crosslingual_retrieval(manifest_of("en", "de"), text_encoders=encoder, store=store.root, measures=["R@2"])
    assert encoder.asked == []
    changed = Counting(identity="counting:2")
    embedded(other, changed, store)
    assert sorted(changed.texts) == sorted(other.text)


@pytest.mark.parametrize(
    ("content", "count"), [(("text",), 12), (("text", "language"), 24), (("text", "role"), 12)]
)
def test_an_encoder_says_what_its_vectors_depend_on(store, content, count):
    rows = [{"id": f"{tag}{i}", "lang": tag, "text": w} for tag in ("en", "de") for i, w in enumerate(WORDS)]
    encoder = Counting(content=content)
    embedded(Manifest.of(rows), encoder, store)
    assert len(encoder.texts) == count
    with pytest.raises(InputError):
        embedded(Manifest.of(rows), Counting(content=("title",)), store)


@pytest.mark.parametrize("more", [{"content": ()}, {"depends_on_batch": True}])
def test_other_encoders_get_the_batch_as_it_is(store, more):
    manifest = manifest_of("en", words=[*WORDS, *WORDS])
    encoder = Counting(**more)
    embedded(manifest, encoder, store)
    assert encoder.asked == [manifest.text]
    assert not store.root.exists() and not is_kept(adopt(encoder))


def test_pieces_go_from_long_to_short_texts_and_grow_while_the_encoder_is_fast(store):
    encoder, reports = Counting(), []
    manifest = manifest_of("en", words=[f"word {i}" for i in range(6000)])
    embedded(manifest, encoder, store, progress=lambda *step: reports.append(step))
    assert [len(batch) for batch in encoder.asked[:5]] == [32, 128, 512, 1024, 1024]
    assert reports[0] == ("encoding texts: x", 32, 6000) and reports[-1] == ("encoding texts: x", 6000, 6000)
    assert [holding.shards for holding in holdings(store)] == [6]
    lengths = [len(text) for text in encoder.texts]
    assert lengths == sorted(lengths, reverse=True)


def test_a_slow_encoder_is_given_little_at_once(store, monkeypatch):
    monkeypatch.setattr(module, "PIECE_SECONDS", 0.0)
    encoder = Counting()
    manifest = manifest_of("en", words=[f"word {i}" for i in range(500)])
    embedded(manifest, encoder, store)
    assert {len(batch) for batch in encoder.asked} == {32, 500 % 32}  # never less than a batch of a network
    monkeypatch.setattr(module, "SHARD_SECONDS", 0.0)
    embedded(manifest_of("de", words=[f"word {i}" for i in range(40)]), encoder, store)
    assert [len(batch) for batch in encoder.asked[-8:]] == [1] * 8


@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_what_was_encoded_before_an_interruption_stays(store, pieces):
    manifest = manifest_of("en", words=[f"word {i}" for i in range(3000)])
    first, second = Counting(fails_after=pieces), Counting()
    with pytest.raises(KeyboardInterrupt):
        embedded(manifest, first, store)
    np.testing.assert_array_equal(embedded(manifest, second, Store(store.root)), expected(manifest))
    assert sorted([*first.texts, *second.texts]) == sorted(manifest.text)  # each of them once


@pytest.mark.parametrize(("error", "calls"), [(KeyboardInterrupt, 2), (XlingualError, 1)])
def test_a_shard_is_written_again_after_ctrl_c_and_not_on_a_full_disk(store, monkeypatch, error, calls):
    add, seen = Collection.add, []

    def failing(self, keys, encoded):
        seen.append(len(keys))
        if len(seen) == 1:
            raise error("stop")
        add(self, keys, encoded)

    monkeypatch.setattr(module, "SHARD_ROWS", 8)
    monkeypatch.setattr(Collection, "add", failing)
    with pytest.raises(error):
        embedded(manifest_of("en"), Counting(), store)
    assert len(seen) == calls
    assert sum(holding.vectors for holding in holdings(store)) == 8 * (calls - 1)


def test_damage_is_computed_again_and_a_disk_that_gives_nothing_back_is_an_error(store, monkeypatch):
    manifest = manifest_of("en", "de")
    embedded(manifest, Counting(), store)
    path = next(store.root.glob("*/*.safetensors"))
    path.write_bytes(path.read_bytes()[:-1] + b"\7")
    with pytest.warns(DataWarning):
        np.testing.assert_array_equal(embedded(manifest, Counting(), store), expected(manifest))
    embedded(manifest, again := Counting(), Store(store.root))
    assert again.asked == []
    monkeypatch.setattr("xlingual.store.shard.line_sums", lambda lines: np.array([id(lines)]))
    with pytest.warns(DataWarning), pytest.raises(XlingualError):
        embedded(manifest, again, Store(store.root))


ANSWERS = [
    lambda rows: rows.astype(np.uint8),
    lambda rows: rows.astype("U8"),
    lambda rows: rows[1:],
    lambda rows: rows[:, 0],
    lambda rows: np.float32(1),
    lambda rows: np.where(rows == rows.max(), np.nan, rows),
    lambda rows: csr_array(np.where(rows == rows.max(), np.inf, rows)),
    lambda rows: [rows] * (len(rows) - 1),
    lambda rows: rows[:, : 2 + (len(rows) > 5)],  # by the piece
]


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_that_are_no_vectors_are_refused_and_never_stored(store, monkeypatch, answer, stored):
    class Odd(Counting):
        def encode(self, batch):
            return answer(super().encode(batch))

    monkeypatch.setattr(module, "_FIRST", 5)
    with pytest.raises(InputError):
        embedded(manifest_of("en"), Odd(), store if stored else None)
    assert not list(store.root.glob("*/*.safetensors"))


def test_cut_texts_are_counted_by_language_once_and_zero_vectors_named(store, tmp_path):
    for _ in range(2):
        with pytest.warns(DataWarning, match="14 of 24"):
            encoded = embed_texts(manifest_of("same", "de"), "x", adopt(Noting()), np.arange(24), store=store)
        assert encoded.truncated == {"same": 2, "de": 12}
    rows = np.arange(24)
    with pytest.warns(DataWarning, match="14 of 24"):
        sides = embed_roles(manifest_of("same", "de"), "x", adopt(Noting(by_role=True)), rows, rows)
    assert sides.truncated == {"same": 2, "de": 12}
    with pytest.warns(DataWarning, match="24 of 24"):
        embedded(manifest_of("en", "de"), lambda texts: np.zeros((len(texts), 2)))


@pytest.mark.parametrize(
    ("compares_by", "scale", "warns"), [("dot", 1, True), ("dot", 0, False), (None, 1, False)]
)
def test_a_model_that_compares_otherwise_than_by_the_cosine_is_named(recwarn, compares_by, scale, warns):
    class Own(Counting):
        def encode(self, batch):
            return np.array([[1.0 + scale * len(text), 0.0] for text in batch.text])

    embedded(manifest_of("en"), Own(compares_by=compares_by))
    assert bool(len(recwarn)) == warns


class Bytes:
    identity, content = "bytes:1", ("bytes",)

    def __init__(self):
        self.asked = 0

    def encode(self, batch):
        self.asked += len(batch)
        raw = [source if isinstance(source, bytes) else source.read_bytes() for source in batch.source]
        return np.array([[len(content), content[0]] for content in raw], dtype=np.float32)


def test_images_are_known_by_their_bytes(store, tmp_path):
    for number, name in enumerate("abcd"):
        (tmp_path / f"{name}.png").write_bytes(b"xyz"[number % 3 :])
    rows = [{"id": name, "lang": "en", "text": name, "image": f"{name}.png"} for name in "abcd"]
    manifest, encoder = Manifest.of(rows, folder=tmp_path), Bytes()
    images = embed_images(manifest, "x", adopt(encoder), np.arange(4), store=store)
    assert encoder.asked == 3  # a and d show the same
    assert len(images) == 3 and images.code[0] == images.code[3]
    (tmp_path / "b.png").write_bytes(b"new")
    embed_images(manifest, "x", adopt(encoder), np.arange(4), store=store)
    assert encoder.asked == 4


@pytest.mark.parametrize("function", [embed_images, image_vectors])
def test_broken_images_are_counted_over_all_pieces(store, function):
    broken = {number: b"no image %d" % number for number in (3, 40, 69)}
    images = [broken.get(number) or b"P6 1 1 255\n%c%c%c" % (number, 9, 9) for number in range(70)]
    rows = [{"id": f"r{i}", "lang": "en", "text": "a", "image": raw} for i, raw in enumerate(images)]
    with pytest.raises(InputError, match="3 of 70"):
        function(Manifest.of(rows), "p", image_encoder("pixels")[1], np.arange(70), store=store)


def test_the_base_of_a_stacked_encoder_encodes_each_content_once(store, monkeypatch):
    class Doubled(Stacked):
        identity = "doubled:1"

        def __init__(self, base):
            super().__init__(adopt(base))
            self.given = []

        def inputs(self, batch):
            return batch, Texts([text[::-1] for text in batch.text], batch.language, batch.ids)

        def apply(self, *sides):
            self.given.append(len(sides[0]))
            return np.hstack(sides) * 2

    monkeypatch.setattr(module, "_BLOCK", 5)
    base, manifest = Noting(), manifest_of("en", "same")
    texts = manifest.texts(np.arange(24))
    for _ in range(2):
        encoder = Doubled(base)
        encoded = encode(encoder, texts, VectorSource("x", "x", store))
        np.testing.assert_array_equal(encoded.vectors, encoder.encode(texts)[: len(texts)])
        assert encoded.truncated.tolist() == [len(text) > 5 for text in texts.text]
        assert encoder.given == [5, 5, 5, 5, 4, 24]
    assert is_kept(encoder)
    higher = encode(Doubled(encoder), texts.take(np.arange(0)), VectorSource("x", "x"))
    assert higher.vectors.shape == (0, 12)


def test_notes_are_reported_once_for_all_pieces_and_not_when_read(store):
    class Telling(Counting, Encoder):
        def notes(self):
            count = len(self.asked)
            self.asked = []
            return [f"{count} pieces"] if count else []

    batch = Texts([str(i) for i in range(100)], ["en"] * 100, list("x" * 100))
    with pytest.warns(DataWarning, match="^2 pieces$"):
        encode(adopt(Telling()), batch, VectorSource("e", "e", store))
    encode(adopt(Telling()), batch, VectorSource("e", "e", store))  # a warning would be an error


def test_fields_are_part_of_the_content(tmp_path):
    def key(**fields):
        batch = Texts(["x"], ["en"], ["1"], fields={name: [value] for name, value in fields.items()})
        return content_keys(batch, ("fields",))[0]

    assert key(a="1", b="2") == key(b="2", a="1")
    assert len({key(), key(a="1"), key(a="2"), key(b="1"), key(a="1", b="2"), key(a="2", b="1")}) == 6
    (encoder,) = text_encoders(lambda texts: [[1.0]] * len(texts), languages=["en"]).values()
    assert not is_kept(encoder)  # it has no identity


def test_the_first_piece_counts_in_the_speed_where_it_is_alone_or_candidates_were_read():
    assert Spent().per_second is None
    assert Spent([(32, 8.0)]).per_second == 4
    assert Spent([(32, 8.0), (100, 1.0), (300, 1.0)]).per_second == 200
    assert Spent([(0, 1.0), (30, 1.0), (10, 2.0)]).per_second == 10
