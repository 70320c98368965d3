"""The door for objects of other libraries, on stand-ins of their shapes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual import backretrieval, encoder
from xlingual.embed.encoding import VectorSource, encode
from xlingual.encoders import image_encoder, image_model, mteb_objects, text_encoders
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


class LlamaIndex:
    model_name = "tiny"

    def get_query_embedding(self, query):
        return [10.0 + len(query)]

    def get_text_embedding_batch(self, texts, show_progress=False):
        return by_length(texts)


class HaystackText:
    warmed = 0

    def warm_up(self):
        self.warmed += 1

    def run(self, text):
        return {"embedding": [float(len(text))]}


class HaystackDocuments:
    def run(self, documents):
        for one in documents:
            one.embedding = [float(len(one.content))]
        return {"documents": documents}


class Mteb:
    def __init__(self, name=None, revision=None):
        self.seen = []
        self.mteb_model_meta = SimpleNamespace(name=name, revision=revision)

    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
        assert "text" in inputs.dataset.features and len(inputs) == 1
        self.seen.append((prompt_type, hf_subset, task_metadata.type))
        return np.array([[len(text)] for batch in inputs for text in batch["text"]], dtype=np.float32)


@pytest.mark.parametrize(
    ("entry", "row"),
    [
        (LangChain(), "LangChain"),
        (LlamaIndex(), "LlamaIndex"),
        (HaystackText(), "Haystack"),
        (Mteb(), "MTEB"),
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


@pytest.mark.parametrize("entry", [LangChain(), LlamaIndex()])
def test_queries_and_documents_go_their_ways(entry):
    made = taken(entry)
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


def test_haystack_is_warmed_up_once():
    embedder = HaystackText()
    made = taken(embedder)
    assert made.encode(BATCH).tolist() == made.encode(BATCH).tolist() == LENGTHS
    assert (embedder.warmed, made.by_role) == (1, False)
    assert taken(HaystackDocuments()).encode(BATCH).tolist() == LENGTHS


def test_two_encoders_by_role():
    made = taken({"query": LangChain(), "candidate": HaystackText()})
    assert made.encode(in_role("candidate")).tolist() == LENGTHS
    assert made.encode(in_role("query"))[:, 0].tolist() == [11, 12, 13, 11]
    assert "mine-query" in made.identity and "mine-candidate" in made.identity


def test_mteb_gets_role_language_and_a_task():
    model = Mteb("owner/model", "abc")
    made = taken(model)
    assert made.encode(in_role("query")).tolist() == LENGTHS
    assert model.seen == [("query", "en", "Retrieval"), ("query", "de", "Retrieval")]
    made.encode(in_role("candidate"))
    assert model.seen[-1][0] == "document"
    assert not made.has_own_identity and made.identity.endswith("#mine@owner/model")


class MtebOwn(Mteb):
    """One of MTEB's own classes, without a network."""

    __module__ = "mteb.models.own"

    def __init__(self, revision="abc", **settings):
        self.mteb_model_meta = SimpleNamespace(name="owner/model", revision=revision)
        vars(self).update(settings)


def test_a_card_identifies_classes_of_mteb_with_simple_settings():
    made = taken(MtebOwn(prompts={"query": "q: "}, size=3))
    assert made.has_own_identity and made.identity.startswith("mteb:owner/model@abc#")
    assert made.identity == taken(MtebOwn(prompts={"query": "q: "}, size=3)).identity
    assert made.identity != taken(MtebOwn(prompts={"query": "Q: "}, size=3)).identity
    assert made.identity != taken(MtebOwn("abd", prompts={"query": "q: "}, size=3)).identity
    assert not taken(MtebOwn(None)).has_own_identity
    for odd in (np.eye(2), len, [len], {1: "x"}, SimpleNamespace()):
        assert not taken(MtebOwn(further=odd)).has_own_identity
        assert not taken(MtebOwn(_further=odd)).has_own_identity

    class Users(MtebOwn):
        __module__ = "users"

    assert not taken(Users()).has_own_identity


def test_only_classes_of_mteb_are_unwrapped():
    class SparseEncoder:
        __module__ = "sentence_transformers.sparse_encoder"

    inner = SparseEncoder()
    unwrapped = mteb_objects.adapter_of(MtebOwn(model=inner), "texts")
    assert type(unwrapped).__name__ == "ModelObject"
    own = Mteb("owner/model", "abc")
    own.model = inner
    made = taken(own)
    assert made.encode(in_role("query")).tolist() == LENGTHS, "its own `encode`"
    assert own.seen and not made.has_own_identity


def test_a_failing_object_is_reported_in_one_line():
    class Broken(LangChain):
        def embed_documents(self, texts):
            raise RuntimeError("no\nnetwork")

    class Odd(LangChain):
        def embed_documents(self, texts):
            return [[1.0]]

    with pytest.raises(InputError, match="Broken: embedding 3 texts failed: RuntimeError: no network"):
        taken(Broken()).encode(BATCH)
    with pytest.raises(InputError, match=r"Odd: returned shape \(1, 1\) for 3 texts"):
        taken(Odd()).encode(BATCH)
    with pytest.raises(InputError, match="LangChain embeds texts"):
        image_encoder(LangChain())


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
    with pytest.raises(InputError, match="array of en has 2 lines, but the data for the language en has 3"):
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


class PackedMteb(Mteb):
    def encode(self, inputs, *, task_metadata, **options):
        return super().encode(inputs, task_metadata=task_metadata, **options).astype(np.uint8)


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
        {"query": by_length, "candidate": lambda texts: np.array(by_length(texts), dtype=np.uint8)},
        PackedMteb(),
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
BY_ITEM = Texts(
    *(["a", "b", "c"], ["en", "en", "en"], ["1", "2", "3"]),
    numberings=(Numbering("items", np.array([0, 0, 1]), {"en": 2, "de": 2, None: 2}),),
)


class Column:
    """A column of another library: a vector in each cell."""

    dtype = object

    def __init__(self, cells):
        self.cells = cells

    def to_numpy(self):
        found = np.empty(len(self.cells), dtype=object)
        found[:] = self.cells
        return found


def frame(values, columns):
    return SimpleNamespace(to_numpy=lambda: np.array(values), columns=columns)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        [np.array(row) for row in ROWS],
        Column(ROWS),
        Column([np.array(row) for row in ROWS]),
        frame(ROWS, [0, 1]),
        pa.array(ROWS),
        pa.chunked_array([ROWS[:1], ROWS[1:]]),
    ],
)
def test_vectors_in_other_forms(rows):
    for entry in ({"en": rows, "de": rows}, rows):
        for found in (taken(entry), text_encoders(entry, languages=["en", "de"])["vectors"]):
            assert found.encode(BY_ITEM).tolist() == [[1, 2], [1, 2], [3, 4]]


def test_an_index_of_faiss_gives_its_vectors():
    faiss = pytest.importorskip("faiss")
    flat, numbered = faiss.IndexFlatIP(2), faiss.IndexIDMap2(faiss.IndexFlatL2(2))
    flat.add(np.array(ROWS, dtype=np.float32))
    numbered.add_with_ids(np.array(ROWS, dtype=np.float32), np.array([7, 5]))
    made = taken({"en": flat, "de": numbered})
    for tag in ("en", "de"):
        batch = replace(BY_ITEM, language=[tag] * 3)
        assert made.encode(batch).tolist() == [[1, 2], [1, 2], [3, 4]]
    assert "vectors" in text_encoders(flat, languages=["en"])


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"en": [[1, 2], [3]]}, "array of en: row 2 has 1 numbers and row 1 has 2"),
        ({"en": Column([[1, 2], None])}, "array of en: row 2 is None; expected a vector"),
        ({"en": Column(["ab", "cd"])}, "array of en: row 1 is 'ab'; expected a vector"),
        ({"en": Column([{}])}, "row 1 is a value of the type dict"),
        (
            {"en": frame(np.array([["a", 1]], dtype=object), ["sku", "v"])},
            r"Python objects \(dtype object\), shape \(1, 2\).*such as frame\['v'\] \(its columns: sku, v",
        ),
        ({"en": np.array(ROWS, dtype=object)}, r"dtype object.*astype\('float32'\)"),
        ({"en": np.ones((1, 2, 3))}, r"value of 'en' is of the type ndarray and the shape \(1, 2, 3\)"),
        ({"en": ["a", "b"]}, "value of 'en' is of the type list: expected"),
        ({"en": by_length}, "value of 'en' is of the type function"),
        ({"query": by_length}, "role 'query' alone: give both"),
        ({"candidate": LangChain()}, "role 'candidate' alone: give both"),
        ({"query": by_length, "candidate": "st:a"}, "role 'candidate' is the text 'st:a': give an object"),
        ({}, "a mapping that is empty"),
        ({1: np.ones((2, 2))}, "a mapping whose keys are no texts"),
        (LangChain, "LangChain is a class"),
    ],
)
def test_what_is_no_encoder_is_named(entry, says):
    with pytest.raises(InputError, match=f"^text encoder 'mine': .*{says}"):
        taken(entry)


def test_one_role_alone_is_no_name():
    with pytest.raises(InputError, match=r"role 'query' alone: give both, .* or another name"):
        text_encoders({"query": by_length}, languages=["en"])
    assert list(text_encoders({"query": "random"}, languages=["en"])) == ["query"]


def test_paths_by_language_have_options(tmp_path):
    for tag, order in (("en", [1, 0]), ("de", [0, 1])):
        table = pa.table({"sku": [f"p{i}" for i in order], "v": [ROWS[i] for i in order]})
        pq.write_table(table, tmp_path / f"{tag}.parquet")
    batch = Texts(
        *(["a", "b"], ["en", "de"], ["1", "2"]),
        items=["p0", "p1"],
        numberings=(Numbering("items", np.array([0, 1]), {"en": 2, "de": 2}),),
    )
    given = {tag: f"{tmp_path}/{tag}.parquet?id=sku" for tag in ("en", "de")}
    (made,) = text_encoders(given, languages=["en", "de"]).values()
    assert made.encode(batch).tolist() == ROWS
    both = {tag: f"{path}&column=v" for tag, path in given.items()}
    assert made.identity == taken(given).identity != taken(both).identity
    plain = {tag: path.removesuffix("?id=sku") for tag, path in given.items()}
    with pytest.raises(InputError, match=r"en.parquet.* another order .*write \?id=sku"):
        taken(plain).encode(batch)
    for other in (plain["de"], np.array(ROWS)):
        with pytest.raises(InputError, match=r"the same options .* \(found en: \?id=sku, de: none\)"):
            taken({**given, "de": other})
    with pytest.raises(InputError, match=r"no option 'ids'\. Did you mean 'id'"):
        taken({tag: f"{path}s=1".replace("id=skus=1", "ids=sku") for tag, path in given.items()})
    bits = np.packbits(np.eye(8, dtype=np.uint8), axis=1)
    np.save(tmp_path / "bits.npy", bits)
    packed = taken(dict.fromkeys(("en", "de"), f"{tmp_path}/bits.npy?packed=1"))
    rows = Texts(["a"], ["en"], ["1"], numberings=(Numbering("rows", np.array([2]), {"en": 8, "de": 8}),))
    assert packed.encode(rows).tolist() == [[-1, -1, 1, -1, -1, -1, -1, -1]] and packed.identity


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
    by_role = taken({"query": by_length, "candidate": function})
    assert by_role.identity
    with pytest.raises(InputError, match=f"^text encoder 'mine-candidate': {says}"):
        by_role.encode(in_role("candidate"))
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

    def test_an_option_that_is_mistyped(self):
        with pytest.raises(
            InputError, match=r"no option 'query_promt'\. Did you mean 'query_prompt'\? \(its"
        ):
            encoder(by_length, query_promt="q: ")
        with pytest.raises(
            InputError, match=r"no option 'zzz'\. \(its options: identity, prompt, .*, batch\)"
        ):
            encoder(by_length, zzz=1)

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


def stand_in(library, name, **methods):
    return type(name, (), {"__module__": f"{library}.x", "__call__": by_length, **methods})()


@pytest.mark.parametrize(
    ("library", "name", "why"),
    [
        ("sentence_transformers", "CrossEncoder", "scores pairs of texts and gives no vectors: give a Sen"),
        ("mteb", "CrossEncoderWrapper", "scores pairs of texts and gives no vectors"),
        ("transformers", "PreTrainedModel", "reads token numbers, .*wrap it with SentenceTransformer"),
        ("transformers", "Pipeline", r"a vector for each token, .*hf:FOLDER\?pool=mean"),
    ],
)
def test_objects_that_can_be_called_and_give_no_vectors(library, name, why):
    for entry in (stand_in(library, name), encoder(stand_in(library, name), dim=2)):
        for given in (entry, [entry], {"mine": entry}):
            with pytest.raises(InputError, match=f"{name}: .*{why}"):
                text_encoders(given, languages=["en"])
    with_method = stand_in(library, name, encode=lambda _, texts: by_length(texts))
    if name == "PreTrainedModel":  # code of its own, as some models have
        assert taken(with_method).encode(BATCH) == LENGTHS


def test_two_encoders_by_role_have_the_name_of_the_first():
    both = {"query": LangChain(), "candidate": HaystackText()}
    assert list(text_encoders(both, languages=["en"])) == ["LangChain"]
    assert list(text_encoders(encoder(both, dim=1), languages=["en"])) == ["LangChain"]
