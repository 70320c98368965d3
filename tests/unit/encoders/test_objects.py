"""The door for objects: functions, `encode`, `embed_documents`, arrays, and options on top."""

from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import backretrieval, encoder
from xlingual.embed.encoding import VectorSource, encode
from xlingual.encoders import image_encoder, image_model, text_encoders
from xlingual.encoders.objects import KINDS, kind_of
from xlingual.errors import InputError
from xlingual.records import Images, Numbering, Texts

TEXTS = ["a", "bb", "ccc", "a"]
BATCH = Texts(TEXTS, ["en", "de", "en", "de"], ["1", "2", "3", "4"])
LENGTHS = [[1.0], [2.0], [3.0], [1.0]]


def in_role(role):
    return Texts(BATCH.text, BATCH.language, BATCH.ids, role=role)


def taken(entry, languages=("en", "de")):
    return text_encoders({"mine": entry}, languages=languages)["mine"]


def by_length(texts):
    return [[float(len(text))] for text in texts]


class LangChain:
    def embed_query(self, text):
        return [10.0 + len(text)]

    def embed_documents(self, texts):
        return by_length(texts)


@pytest.mark.parametrize(
    ("entry", "row"),
    [
        (LangChain(), "embed_documents"),
        (by_length, "function"),
        (np.ones((2, 2)), "array"),
        ({"en": "a.npy"}, "array"),
    ],
)
def test_each_shape_has_its_row(entry, row):
    assert row in kind_of(entry).name


def test_objects_written_for_the_program_have_no_row():
    assert kind_of(SimpleNamespace(encode=len)) is None
    assert len({row.name for row in KINDS}) == len(KINDS)


def test_queries_and_documents_go_their_ways():
    made = taken(LangChain())
    assert made.by_role and not made.has_own_identity
    assert made.encode(in_role("candidate")).tolist() == made.encode(BATCH).tolist() == LENGTHS
    assert made.encode(in_role("query"))[:, 0].tolist() == [11, 12, 13, 11]


def test_a_single_object_is_one_encoder_even_if_it_can_be_iterated():
    class Iterable(LangChain):  # as pydantic models are
        def __iter__(self):
            return iter([("a", 1)])

    assert list(text_encoders(Iterable(), languages=["en"])) == ["Iterable"]
    assert list(text_encoders([Iterable(), "random"], languages=["en"])) == ["Iterable", "random"]
    assert list(text_encoders(by_length, languages=["en"])) == ["by_length"]


def test_arrays_by_language_are_found_by_line():
    index = np.array([0, 0, 1, 1])
    batch = Texts(
        *(BATCH.text, BATCH.language, BATCH.ids), numberings=(Numbering("items", index, {"en": 2, "de": 2}),)
    )
    tables = {"en": np.array([[1.0, 2], [3, 4]]), "de": np.array([[5.0, 6], [7, 8]])}
    made = taken(tables)
    assert made.encode(batch).tolist() == [[1, 2], [5, 6], [3, 4], [7, 8]]
    assert list(text_encoders(tables, languages=["en", "de"])) == [
        "vectors"
    ]  # the languages name no encoders
    assert made.identity == taken({tag: table.copy() for tag, table in tables.items()}).identity
    assert made.identity != taken({**tables, "de": tables["en"]}).identity
    with pytest.raises(InputError, match="array of en has 2 lines, but the data have 3"):
        made.encode(
            Texts(
                *(BATCH.text, BATCH.language, BATCH.ids), numberings=(Numbering("items", index, {"en": 3}),)
            )
        )


def test_paths_by_language(tmp_path):
    for tag in ("en", "de"):
        np.save(tmp_path / f"{tag}.npy", np.full((2, 3), ord(tag[0]), dtype=np.float32))
    given = {tag: tmp_path / f"{tag}.npy" for tag in ("en", "de")}
    (made,) = text_encoders(given, languages=["en", "de"]).values()
    batch = Texts(["a", "b"], ["en", "de"], ["1", "2"], numberings=(
        Numbering("items", np.array([0, 1]), {"en": 2, "de": 2}),))  # fmt: skip
    assert made.encode(batch)[:, 0].tolist() == [ord("e"), ord("d")]
    with pytest.raises(InputError, match="there are no vectors for 'fr': give an array"):
        made.encode(Texts(["a"], ["fr"], ["1"]))
    # other names are names of encoders, as they were
    assert list(text_encoders({"one": tmp_path / "en.npy"}, languages=["en"])) == ["one"]


class PackedLangChain(LangChain):
    def embed_documents(self, texts):
        return list(np.array(by_length(texts), dtype=np.uint8))


class PackedTexts:
    def encode(self, batch: Texts):
        return np.array(by_length(batch.text), dtype=np.uint8)


@pytest.mark.parametrize(
    "entry",
    [
        lambda texts: np.array(by_length(texts), dtype=np.uint8),
        lambda texts: [np.ones((2, 3), dtype=np.uint8) for _ in texts],  # a vector for each token
        PackedLangChain(),
        PackedTexts(),
        {tag: np.ones((2, 4), dtype=np.uint8) for tag in ("en", "de")},
        np.ones((4, 4), dtype=np.uint8),
    ],
)
def test_bytes_are_refused_at_every_door(entry):
    numberings = (Numbering("items", np.array([0, 0, 1, 1]), {"en": 2, "de": 2, None: 4}),)
    batch = Texts(BATCH.text, BATCH.language, BATCH.ids, numberings=numberings)
    with pytest.raises(InputError, match=r"bytes \(uint8\), as bit-packed.* np.unpackbits"):
        encode(taken(entry), batch, VectorSource("text encoder 'mine'", ""))


def test_tensors_of_any_type_are_taken():
    torch = pytest.importorskip("torch")
    kinds = (torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int8)
    for dtype in kinds:
        for entry in (
            lambda texts, dtype=dtype: torch.tensor(by_length(texts), dtype=dtype),
            lambda texts, dtype=dtype: [torch.tensor(one, dtype=dtype) for one in by_length(texts)],
        ):
            assert taken(entry).encode(BATCH).tolist() == LENGTHS

        class Own:
            def encode(self, batch: Texts, dtype=dtype):
                return torch.tensor(by_length(batch.text), dtype=dtype)

        found = encode(taken(Own()), BATCH, VectorSource("text encoder 'mine'", "")).vectors
        assert found.tolist() == LENGTHS
    tokens = taken(lambda texts: [torch.ones((2, 3), dtype=torch.bfloat16) for _ in texts]).encode(BATCH)
    assert tokens.shape == (4, 3) and tokens.sizes.tolist() == [2] * 4
    array = taken({tag: torch.ones((2, 2), dtype=torch.bfloat16) for tag in ("en", "de")})
    assert array.identity == taken({tag: np.ones((2, 2), dtype=np.float32) for tag in ("en", "de")}).identity


ROWS = [[1.0, 2], [3, 4]]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"en": np.array(ROWS, dtype=object)}, r"array of en holds object, shape \(2, 2\); expected numbers"),
        ({"en": np.ones((1, 2, 3))}, r"a mapping is no encoder: expected for each language"),
        ({"en": by_length}, "a mapping is no encoder"),
        ({}, "a mapping is no encoder"),
        ({1: np.ones((2, 2))}, "a mapping is no encoder"),
        (LangChain, "LangChain is a class"),
    ],
)
def test_what_is_no_encoder_is_named(entry, says):
    with pytest.raises(InputError, match=f"^text encoder 'mine': .*{says}"):
        taken(entry)


def broken(texts):
    raise ZeroDivisionError("by nought")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (broken, r"the function failed at .*test_objects.py:[0-9]+: ZeroDivisionError: by nought"),
        (lambda texts: [[1.0]], r"returned shape \(1, 1\) for 4 texts; expected numbers of shape \(4, d\)"),
        (lambda texts: [[1], [2, 3], [1], [1]], "making numbers of what it returned failed"),
        (lambda texts: None, "returned a value of the type NoneType for 4 texts"),
        (
            lambda texts: np.array([None] * len(texts)),
            r"returned Python objects \(dtype object\), such as .* for 4 texts",
        ),
        (lambda texts: np.array(texts), "returned values of the dtype <U3 for 4 texts"),
    ],
)
def test_errors_of_functions_name_the_encoder(function, says):
    made = taken(function)
    with pytest.raises(InputError, match=f"^text encoder 'mine': {says}"):
        made.encode(BATCH)
    own = getattr(function, "__name__", "").replace("<lambda>", "function")
    with pytest.raises(InputError, match=f"^text encoder '{own}': {says}"):
        text_encoders([function], languages=["en"])[own].encode(BATCH)


def test_a_function_that_cannot_be_called_is_named():
    with pytest.raises(InputError, match=r"^text encoder 'mine': the function '<lambda>': must take"):
        taken(lambda a, b: a)
    name, made = image_encoder(lambda images: [[1.0]])
    assert name == "function"
    with pytest.raises(InputError, match=r"^image encoder 'function': returned shape"):
        made.encode(Images([b"", b""], ["en"] * 2, ["1", "2"]))


def test_errors_of_a_similarity_name_it():
    def colours(first, second):
        return None

    _, made = image_model(colours)
    with pytest.raises(InputError, match=r"^image similarity 'colours': expected numbers"):
        made.similarity(*[Images([b""], ["en"], ["1"])] * 2)
    assert made.identity.startswith("python:")


class TestUnknownObjects:
    def test_a_list_where_the_parameter_says_so(self):
        class Library:
            def encode(self, sentences: list[str]):
                assert type(sentences) is list
                return by_length(sentences)

        assert np.asarray(taken(Library()).encode(BATCH)).tolist() == LENGTHS

    def test_a_batch_where_the_parameter_says_so(self):
        class Ours:
            def encode(self, batch: Texts):
                return by_length(batch.text)

        assert np.asarray(taken(Ours()).encode(BATCH)).tolist() == LENGTHS

    def test_a_list_where_the_batch_cannot_be_read(self):
        class Library:
            def encode(self, sentences, **kwargs):
                return np.array([[len(text)] for text in sentences])

        assert taken(Library()).encode(BATCH).tolist() == LENGTHS

    def test_the_error_says_what_to_do(self):
        class Broken:
            def encode(self, what):
                raise ValueError("never")

        with pytest.raises(InputError, match=r"ValueError: never.*annotate its parameter.*list\[str\]"):
            taken(Broken()).encode(BATCH)

    def test_an_object_with_an_identity_gets_the_batch_alone(self):
        class Ours:
            identity = "ours"

            def encode(self, batch):
                raise ValueError("its own")

        with pytest.raises(ValueError, match="its own"):
            taken(Ours()).encode(BATCH)


def test_objects_without_an_identity_are_different_unless_named_equal():
    made = text_encoders({"a": LangChain(), "b": LangChain()}, languages=["en"])
    again = text_encoders({"a": LangChain()}, languages=["en"])
    assert made["a"].identity == again["a"].identity != made["b"].identity
    functions = text_encoders({"a": lambda texts: texts, "b": lambda texts: texts}, languages=["en"])
    assert len({one.identity for one in functions.values()}) == 2
    assert not any(one.has_own_identity for one in functions.values())


class TestOptions:
    def test_prompts_go_before_texts_by_role(self):
        made = taken(encoder(by_length, query_prompt="query: ", candidate_prompt="p: "))
        assert made.by_role
        assert made.encode(in_role("query"))[:, 0].tolist() == [8, 9, 10, 8]
        assert made.encode(in_role("candidate"))[:, 0].tolist() == [4, 5, 6, 4]
        assert "query_prompt=query%3A%20&candidate_prompt=p%3A%20" in made.identity

    def test_dimensions_and_identity(self):
        wide = encoder(lambda texts: np.ones((len(texts), 8)), dim=3)
        made = taken(encoder(wide, identity="wide@1"))  # options add up
        assert made.encode(BATCH).shape == (4, 3)
        assert made.identity == "named:wide@1#dim=3" and made.has_own_identity
        assert "text" in made.content
        with pytest.raises(InputError, match="dim=9, but the vectors have 8 dimensions"):
            taken(encoder(lambda texts: np.ones((len(texts), 8)), dim=9)).encode(BATCH)

    def test_images(self, tmp_path):
        from PIL import Image

        rows = []
        for i in range(6):
            Image.new("RGB", (4, 4), (40 * i, 0, 0)).save(tmp_path / f"{i}.png")
            image = (tmp_path / f"{i}.png").read_bytes()
            rows += [
                {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "image": image} for tag in ("en", "de")
            ]
        calls = []

        def sizes(images):
            calls.append(len(images))
            return np.array([[np.cos(sum(one)), np.sin(sum(one)), 1.0] for one in images])

        named = encoder(sizes, identity="sizes@1", dim=2)
        _, made = image_encoder(named)
        assert made.content == ("bytes",) and made.has_own_identity
        done = []
        for _ in range(2):  # the second time the vectors come from the store
            folder = tmp_path / "store"
            backretrieval(rows, "chargram", image_encoder=named, pairs="en-de", measures="R@2", store=folder)
            done.append(sum(calls))
        assert done[0] == done[1] > 0
        with pytest.raises(InputError, match="query_prompt is for texts, and this one encodes images"):
            image_encoder(encoder(sizes, query_prompt="q: "))

    def test_what_cannot_be(self):
        with pytest.raises(InputError, match="is a spec: write its options behind a question mark"):
            encoder("st:LaBSE", dim=3)
        with pytest.raises(InputError, match="dim must be a whole number"):
            encoder(by_length, dim=0)
        with pytest.raises(InputError, match="prompt_name is for a SentenceTransformer"):
            taken(encoder(by_length, prompt_name="query"))
