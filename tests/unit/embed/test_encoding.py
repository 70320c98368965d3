"""Nothing is encoded twice, what was computed is kept, and equal texts share a vector."""

import itertools

import numpy as np
import pytest

from xlingual import Manifest, crosslingual_retrieval
from xlingual.embed import embed_images, embed_texts, image_vectors
from xlingual.embed import encoding as module
from xlingual.embed.encoding import VectorSource, encode
from xlingual.encoders import adopt, image_encoder, text_encoders
from xlingual.errors import DataWarning, InputError, XlingualError
from xlingual.records import Encoded, Texts, content_keys
from xlingual.store import Collection, Store, holdings

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


class Counting:
    """Gives vectors that depend on the text alone, and remembers what it was asked."""

    identity = "counting:1"
    content = ("text",)

    def __init__(self, **more):
        self.asked = []
        self.__dict__.update(more)

    def encode(self, batch):
        self.asked.append(list(batch.text))
        return np.array([vector_of(text) for text in batch.text], dtype=np.float32)

    @property
    def texts(self):
        return [text for batch in self.asked for text in batch]


class Noting(Counting):
    identity = "noting:1"

    def encode_noting(self, batch):
        return Encoded(self.encode(batch), np.array([len(text) > 5 for text in batch.text]))


def vector_of(text):
    return [len(text) + 1, sum(map(ord, text)) % 97, ord((text or "x")[0])]


def manifest_of(*languages, words=WORDS):
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{word} {tag if tag != 'same' else ''}".strip(), "item": i}
        for tag in languages
        for i, word in enumerate(words)
    ]
    return Manifest.of(rows)


def embedded(manifest, encoder, store=None, **more):
    return embed_texts(manifest, "x", adopt(encoder), np.arange(len(manifest)), store=store, **more).vectors


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def expected(manifest):
    return np.array([vector_of(text) for text in manifest.text], dtype=np.float32)


@pytest.mark.parametrize("kept", [False, True])
def test_equal_texts_are_encoded_once(store, kept):
    manifest = manifest_of("en", "same", "de", words=[*WORDS, *WORDS])
    encoder = Counting()
    found = embedded(manifest, encoder, store if kept else None)
    np.testing.assert_array_equal(found, expected(manifest))
    assert sorted(encoder.texts) == sorted(set(manifest.text))


def test_another_manifest_and_another_task_are_served(store):
    embedded(manifest_of("en", "de"), Counting(), store)
    encoder = Counting()
    other = manifest_of("de", words=WORDS[::-1])
    np.testing.assert_array_equal(embedded(other, encoder, Store(store.root)), expected(other))
    crosslingual_retrieval(manifest_of("en", "de"), text_encoders=encoder, store=store.root, measures=["R@2"])
    assert encoder.asked == []


def test_evaluations_use_the_users_store_unless_another_is_given(monkeypatch, tmp_path):
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "own"))
    run = {"text_encoders": Counting(), "measures": ["R@2"]}
    one = crosslingual_retrieval(manifest_of("en", "de"), **run, store=None)
    assert not (tmp_path / "own").exists()
    two = crosslingual_retrieval(manifest_of("en", "de"), **run)
    three = crosslingual_retrieval(manifest_of("en", "de"), text_encoders=Counting(), measures=["R@2"])
    assert len(Store(tmp_path / "own").folders()) == 1
    assert (
        [e.value for e in one.entries] == [e.value for e in two.entries] == [e.value for e in three.entries]
    )


def test_a_changed_encoder_is_never_served_old_vectors(store):
    manifest = manifest_of("en")
    embedded(manifest, Counting(), store)
    encoder = Counting(identity="counting:2")
    embedded(manifest, encoder, store)
    assert sorted(encoder.texts) == sorted(manifest.text)


@pytest.mark.parametrize(
    ("content", "count"), [(("text",), 12), (("text", "language"), 24), (("text", "role"), 12)]
)
def test_what_counts_is_what_the_encoder_says(store, content, count):
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": word} for tag in ("en", "de") for i, word in enumerate(WORDS)
    ]
    encoder = Counting(content=content)
    embedded(Manifest.of(rows), encoder, store)
    assert len(encoder.texts) == count


@pytest.mark.parametrize("more", [{"content": ()}, {"depends_on_batch": True}])
def test_other_encoders_get_the_batch_as_it_is_and_nothing_is_kept(store, more):
    manifest = manifest_of("en", words=[*WORDS, *WORDS])
    encoder = Counting(**more)
    for _ in range(2):
        embedded(manifest, encoder, store)
    assert encoder.asked == [manifest.text, manifest.text]
    assert not store.root.exists()


def test_an_object_without_an_identity_of_its_own_is_not_kept(store):
    class Mine:
        content = ("text",)

        def encode(self, batch):
            return np.array([vector_of(text) for text in batch.text], dtype=np.float32)

    (encoder,) = text_encoders(Mine(), languages=["en"]).values()
    assert not encoder.has_own_identity
    manifest = manifest_of("en")
    np.testing.assert_array_equal(embedded(manifest, encoder, store), expected(manifest))
    assert not store.root.exists()


def test_long_texts_are_encoded_first_and_together(store, monkeypatch):
    monkeypatch.setattr(module, "_FIRST", 4)
    encoder = Counting()
    embedded(manifest_of("en"), encoder, store)
    lengths = [len(text) for text in encoder.texts]
    assert lengths == sorted(lengths, reverse=True)


def test_pieces_grow_while_the_encoder_is_fast(store):
    words = [f"word {i}" for i in range(6000)]
    encoder, reports = Counting(), []
    embedded(manifest_of("en", words=words), encoder, store, progress=lambda *step: reports.append(step))
    assert [len(batch) for batch in encoder.asked[:5]] == [32, 128, 512, 1024, 1024]
    assert reports[0] == ("encoding texts: x", 32, 6000) and reports[-1] == ("encoding texts: x", 6000, 6000)
    shards = list(store.collection(encoder.identity).folder.glob("*.safetensors"))
    assert len(shards) == 6  # 32 + 128 + 512 + 1024 rows, four of 1024, and the rest


def test_a_slow_encoder_writes_often(store, monkeypatch):
    monkeypatch.setattr(module, "SHARD_SECONDS", 0.0)
    encoder = Counting()
    embedded(manifest_of("en"), encoder, store)
    monkeypatch.setattr(module, "_FIRST", 4)
    embedded(manifest_of("de"), encoder, store)
    assert [len(batch) for batch in encoder.asked] == [12, 4, 1, 1, 1, 1, 1, 1, 1, 1]


def test_what_was_done_before_a_failure_is_kept(store, monkeypatch):
    monkeypatch.setattr(module, "_FIRST", 1)

    class Failing(Counting):
        def encode(self, batch):
            if len(self.asked) == 2:
                raise KeyboardInterrupt
            return super().encode(batch)

    first, second = Failing(), Counting()
    manifest = manifest_of("en")
    with pytest.raises(KeyboardInterrupt):
        embedded(manifest, first, store)
    np.testing.assert_array_equal(embedded(manifest, second, Store(store.root)), expected(manifest))
    assert sorted([*first.texts, *second.texts]) == sorted(manifest.text)


@pytest.mark.parametrize("batches", [1, 2, 5])
def test_ctrl_c_within_the_first_shard_keeps_what_was_encoded(store, batches):
    class Interrupted(Counting):
        def encode(self, batch):
            if len(self.asked) == batches:
                raise KeyboardInterrupt
            return super().encode(batch)

    manifest = manifest_of("en", words=[f"word {i}" for i in range(3000)])
    first, second = Interrupted(), Counting()
    with pytest.raises(KeyboardInterrupt):
        embedded(manifest, first, store)
    (checked,) = holdings(store, verified=True)
    assert (checked.vectors, checked.damaged) == (len(first.texts), ())
    np.testing.assert_array_equal(embedded(manifest, second, Store(store.root)), expected(manifest))
    assert sorted([*first.texts, *second.texts]) == sorted(manifest.text)  # each of them once


def test_ctrl_c_while_a_shard_is_written_keeps_it(store, monkeypatch):
    add, calls = Collection.add, []

    def interrupted(self, keys, encoded):
        calls.append(len(keys))
        if len(calls) == 1:
            raise KeyboardInterrupt
        add(self, keys, encoded)

    monkeypatch.setattr(module, "SHARD_ROWS", 8)
    monkeypatch.setattr(Collection, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        embedded(manifest_of("en"), Counting(), store)
    assert calls[0] == calls[1] == sum(one.vectors for one in holdings(store))


def test_what_cannot_be_written_is_not_tried_again(store, monkeypatch):
    calls = []

    def full(self, keys, encoded):
        calls.append(len(keys))
        raise XlingualError("the disk is full")

    monkeypatch.setattr(Collection, "add", full)
    with pytest.raises(XlingualError, match="the disk is full"):
        embedded(manifest_of("en"), Counting(), store)
    assert len(calls) == 1


def test_a_slow_encoder_is_given_a_few_seconds_of_work(store, monkeypatch):
    monkeypatch.setattr(module, "PIECE_SECONDS", 0.0)
    encoder, crew = Counting(), adopt(Counting())
    crew.workers = 2
    manifest = manifest_of("en", words=[f"word {i}" for i in range(500)])
    embedded(manifest, encoder, store)
    assert {len(batch) for batch in encoder.asked} == {32, 500 % 32}  # never less than a batch of a network
    embedded(manifest, crew)
    assert [len(batch) for batch in crew.target.asked] == [32, 128, 340]  # copies on a cluster share a piece


def test_bytes_that_an_encoder_returns_are_refused(store):
    class Packed(Counting):
        def encode(self, batch):
            return super().encode(batch).astype(np.uint8)

    with pytest.raises(InputError, match=r"returned bytes \(uint8\).* np.unpackbits"):
        embedded(manifest_of("en"), Packed(), store)


def test_a_damaged_shard_is_computed_again(store):
    manifest = manifest_of("en", "de")
    embedded(manifest, Counting(), store)
    (path,) = store.collection(Counting.identity).folder.glob("*.safetensors")
    content = bytearray(path.read_bytes())
    content[-len(manifest) * 17 - 5] ^= 1  # among the vectors
    path.write_bytes(bytes(content))
    encoder = Counting()
    with pytest.warns(DataWarning, match="damaged"):
        found = embedded(manifest, encoder, Store(store.root))
    np.testing.assert_array_equal(found, expected(manifest))
    assert sorted(encoder.texts) == sorted(manifest.text)
    again = Counting()
    embedded(manifest, again, Store(store.root))
    assert again.asked == []


def test_a_disk_that_gives_nothing_back_is_reported(store, monkeypatch):
    numbers = itertools.count()
    monkeypatch.setattr(
        "xlingual.store.shard.line_sums", lambda lines: np.full(len(lines), next(numbers), "u8")
    )
    with (
        pytest.warns(DataWarning, match="damaged"),
        pytest.raises(XlingualError, match=r"does not give back.*--no-store"),
    ):
        embedded(manifest_of("en"), Counting(), store)


@pytest.mark.parametrize("kept", [False, True])
def test_vectors_of_several_sizes_are_refused(store, monkeypatch, kept):
    monkeypatch.setattr(module, "_FIRST", 4)

    class Odd(Counting):
        def encode(self, batch):
            self.asked.append(list(batch.text))
            return np.ones((len(batch), 2 + len(self.asked)), dtype=np.float32)

    with pytest.raises(InputError, match="'x' gives some texts 3 and others 4 dimensions"):
        embedded(manifest_of("en"), Odd(), store if kept else None)


def test_vectors_that_are_not_numbers_are_never_kept(store):
    class Broken(Counting):
        def encode(self, batch):
            return np.full((len(batch), 2), np.nan, dtype=np.float32)

    with pytest.raises(InputError, match="NaN"):
        embedded(manifest_of("en"), Broken(), store)
    assert not store.root.exists()


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("content", [(), ("text",)])
def test_cut_texts_are_counted_by_language(store, kept, content):
    manifest = manifest_of("same", "de")
    encoder = Noting(content=content)
    for _ in range(2):  # the second time from the store
        with pytest.warns(DataWarning, match=r"'x': 14 of 24 texts were longer .* \(same 2, de 12\)"):
            found = embed_texts(
                manifest, "x", adopt(encoder), np.arange(len(manifest)), store=store if kept else None
            )
        assert found.truncated == {"same": 2, "de": 12}
    assert embed_texts(manifest, "x", adopt(Counting()), np.arange(24)).truncated is None


def test_results_report_cut_texts(tmp_path):
    encoders = {"notes": Noting(), "does not": Counting()}
    with pytest.warns(DataWarning, match="were cut"):
        results = crosslingual_retrieval(
            manifest_of("same", "de"), text_encoders=encoders, measures=["R@2"], store=tmp_path / "s"
        )
    assert results.truncated == {"notes": {"same": 2, "de": 12}}
    assert any("14 of 24 texts" in sentence for sentence in results.warnings)
    results.write(tmp_path / "out")
    assert type(results).read(tmp_path / "out").truncated == results.truncated


class Bytes:
    identity = "bytes:1"
    content = ("bytes",)

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
    manifest = Manifest.of(rows, folder=tmp_path)
    encoder = Bytes()
    images = embed_images(manifest, "x", adopt(encoder), np.arange(4), store=store)
    assert encoder.asked == 3  # a and d show the same
    assert len(images) == 3 and images.code[0] == images.code[3]
    rows = [{"id": "e", "lang": "en", "text": "e", "image": b"yz"}]
    embed_images(Manifest.of(rows), "x", adopt(encoder), np.arange(1), store=store)
    assert encoder.asked == 3
    (tmp_path / "b.png").write_bytes(b"new")
    embed_images(manifest, "x", adopt(encoder), np.arange(4), store=store)
    assert encoder.asked == 4


def test_a_function_of_the_batch_may_read_fields(store, tmp_path):
    (tmp_path / "titles.py").write_text(
        "from xlingual.records import Texts\n\n"
        "def encode(batch: Texts):\n"
        "    return [[len(title), 1] for title in batch.fields['title']]\n"
    )
    spec = f"python:{tmp_path}/titles.py:encode?revision=1"
    encoder = next(iter(text_encoders(spec, languages=["en"]).values()))
    way = module.VectorSource("titles", "encoding", store)

    def batch(*titles):
        return Texts(["same"] * len(titles), ["en"] * len(titles), list("abc"), fields={"title": titles})

    assert module.encode(encoder, batch("a", "long"), way).vectors[:, 0].tolist() == [1, 4]
    assert module.encode(encoder, batch("longer", "a"), way).vectors[:, 0].tolist() == [6, 1]


def test_fields_differ_by_name_and_value():
    def key(**fields):
        batch = Texts(["x"], ["en"], ["1"], fields={name: [value] for name, value in fields.items()})
        return content_keys(batch, ("fields",))[0]

    assert key(a="1", b="2") == key(b="2", a="1")
    assert len({key(), key(a="1"), key(a="2"), key(b="1"), key(a="1", b="2"), key(a="2", b="1")}) == 6


@pytest.mark.parametrize("content", [("title",), "text", ("text", 3), 7, ("bytes",)])
def test_content_of_unknown_names_is_refused(store, content):
    with pytest.raises(InputError, match=r"tuple of names among 'text', 'language', .*'fields'") as caught:
        embedded(manifest_of("en"), Counting(content=content), store)
    assert repr(content) in str(caught.value)


def test_content_of_images_is_their_bytes(store, tmp_path):
    (tmp_path / "a.png").write_bytes(b"xyz")
    manifest = Manifest.of([{"id": "a", "lang": "en", "text": "a", "image": "a.png"}], folder=tmp_path)
    encoder = Bytes()
    encoder.content = ("text",)
    with pytest.raises(InputError, match="among 'bytes'"):
        embed_images(manifest, "p", adopt(encoder), np.arange(len(manifest)), store=store)


@pytest.mark.parametrize("function", [embed_images, image_vectors])
def test_broken_pictures_are_counted_over_all_pieces(store, function):
    broken = {number: b"no image %d" % number for number in (3, 40, 69)}
    images = [broken.get(number) or b"P6 1 1 255\n%c%c%c" % (number, 9, 9) for number in range(70)]
    rows = [{"id": f"r{i}", "lang": "en", "text": "a", "image": raw} for i, raw in enumerate(images)]
    _, encoder = image_encoder("pixels")
    with pytest.raises(InputError, match=r"'r3'.* \(3 of 70 images are missing or broken; ") as caught:
        function(Manifest.of(rows), "p", encoder, np.arange(70), store=store)
    assert ("skip_broken=True" in str(caught.value)) == (function is embed_images)


def test_what_an_encoder_notes_is_reported_once_for_all_pieces_and_not_when_read(tmp_path):
    class Noting:
        identity, content = "noting", ("text",)
        calls = 0

        def encode(self, batch):
            self.calls += 1
            return np.ones((len(batch), 2), dtype=np.float32)

        def notes(self):
            calls, self.calls = self.calls, 0
            return [f"{calls > 1}: several pieces"] if calls else []

    batch, way = (
        Texts([str(i) for i in range(100)], ["en"] * 100, list("x" * 100)),
        VectorSource("e", "e", Store(tmp_path)),
    )
    with pytest.warns(DataWarning, match="^True: several pieces$"):
        encode(adopt(Noting()), batch, way)
    encode(adopt(Noting()), batch, way)  # a warning would be an error
