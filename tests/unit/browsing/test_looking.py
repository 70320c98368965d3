"""Which queries are chosen, what is found among texts, and which vectors are at hand."""

import re
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from msgspec import structs

from xlingual import InputError, Manifest, crosslingual_retrieval
from xlingual.browsing.looking import open_looking
from xlingual.browsing.mapping import Maps
from xlingual.browsing.marks import Marks
from xlingual.browsing.searching import TextSearch, folded
from xlingual.browsing.vectors import Space
from xlingual.browsing.viewing import Viewer
from xlingual.browsing.wanted import Wanted, rank_range
from xlingual.results import Results
from xlingual.results.inspection import KINDS

looked = SimpleNamespace(**run_path(str(Path(__file__).with_name("looked.py"))))
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return looked.make(tmp_path_factory.mktemp("xlr"))


@pytest.fixture(scope="module")
def shown(made):
    return looked.looking(made)


@pytest.fixture(scope="module")
def back(tmp_path_factory):
    made = looked.make(tmp_path_factory.mktemp("bkr"), "bkr")
    return made, looked.looking(made)


def table_of(made, encoder):
    table = Results.read(made.out).per_query
    return table.filter(pc.equal(table["encoder"].cast(pa.string()), encoder))


def test_the_best_encoder_stands_first_and_failures_are_those_of_the_table(made, shown):
    usual = shown.usual()
    assert usual.encoder == "good" and usual.outcome == "failed"
    for name in ("good", "bad"):
        value = table_of(made, name)["value"].to_numpy()
        assert len(shown.lines(usual.changed(encoder=name))) == (value < 0.5).sum()
        assert len(shown.lines(usual.changed(encoder=name, outcome="answered"))) == (value >= 0.5).sum()


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({"source": "ar"}, lambda one, data, line: data.languages[data.language[one.row[line]]] == "ar"),
        ({"target": "ja"}, lambda one, data, line: one.pairs[one.pair[line]][1] == "ja"),
        ({"rank": "11-100"}, lambda one, data, line: 11 <= one.rank[line] <= 100),
        ({"hub": "yes"}, lambda one, data, line: one.hub[line]),
        ({"kind": "near"}, lambda one, data, line: one.kind[line] == KINDS.index("near")),
    ],
)
def test_filters_keep_exactly_what_they_say(shown, changes, holds):
    wanted = shown.usual().changed(encoder="bad", outcome="all")
    one, every, kept = shown.queries["bad"], shown.lines(wanted), shown.lines(wanted.changed(**changes))
    assert 0 < len(kept) < len(every)
    assert set(kept.tolist()) == {line for line in every.tolist() if holds(one, shown.data, line)}


def test_a_slice_is_the_texts_that_have_the_property(shown):
    wanted = shown.named(encoder="bad", outcome="all", slice="category: c1")
    rows = shown.queries["bad"].row[shown.lines(wanted)]
    assert len(rows) and {shown.data.labels["category"][row] for row in rows.tolist()} == {"c1"}


def test_without_slices_everything_else_is_there(made, shown):
    bare = looked.looking(made, slices=False)
    assert bare.slices.shown == [] and shown.slices.shown != []
    for name in ("good", "bad"):
        wanted = shown.usual().changed(encoder=name, hub="yes")
        assert bare.lines(wanted).tolist() == shown.lines(wanted).tolist()


def test_words_are_looked_for_in_the_query_and_in_what_it_found(shown):
    wanted = shown.usual().changed(encoder="bad", outcome="all", q="LAMP 17")
    one, data = shown.queries["bad"], shown.data
    lines = shown.lines(wanted)
    texts = [(data.text[one.row[line]], data.text[one.retrieved[line]]) for line in lines.tolist()]
    assert texts and all("lamp 17" in query or "lamp 17" in found for query, found in texts)
    assert any("lamp 17" not in query for query, _ in texts)


def test_the_worst_and_the_surest_stand_first(shown):
    wanted, one = shown.usual().changed(encoder="bad"), shown.queries["bad"]
    assert (np.diff(one.rank[shown.lines(wanted)]) <= 0).all()
    assert (np.diff(one.score[shown.lines(wanted.changed(order="surest"))]) <= 0).all()


def test_unknown_names_say_what_there_is(shown):
    with pytest.raises(InputError, match=r"--slice category: c9.*category: c"):
        shown.named(slice="category: c9")
    with pytest.raises(InputError, match=r"--kind hubs.*Did you mean 'hub'"):
        shown.named(kind="hubs")
    with pytest.raises(InputError, match="--rank x: expected ranks such as"):
        shown.named(rank="x")


def test_addresses_keep_filters_and_drop_what_is_strange(shown):
    usual = shown.usual()
    one = usual.changed(encoder="bad", q="a & b", rank="2-10")
    address = one.address(usual, to="ja")
    assert address.startswith("?") and "to=ja" in address and "outcome" not in address
    strange = Wanted.of({"encoder": "x", "rank": "²", "slice": "f99.0", "kind": "y", "outcome": "z"}, usual)
    assert shown.checked(strange) == usual
    assert rank_range("101-") == (101, None)


def test_other_tasks_are_refused_with_what_is_possible(tmp_path, made):
    results = Results.read(made.out)
    results.entries = [structs.replace(entry, task="multilingual-pool") for entry in results.entries]
    with pytest.raises(InputError, match=r"multilingual-pool: give results of `xlingual evaluate"):
        open_looking(results, marks=Marks(tmp_path / "m.json"))


# --- texts


def test_search_folds_case_width_and_finds_cjk_and_arabic(shown):
    search, data = TextSearch(shown.data), shown.data
    for words in ("ＬＡＭＰ 17", "ランプ17", "أحمر 17"):
        rows = search.find(words).tolist()
        assert rows and all(folded(words).split()[-1] in folded(data.text[row]) for row in rows)
    assert data.text[search.find("red lamp 4")[0]] == "red lamp 4"  # equal before what only begins so
    assert "i7" in {data.ids[row].split("/")[0] for row in search.find("I7").tolist()}
    assert len(search.find("   ")) == 0 and len(search.find("x" * 10_000)) == 0
    row = search.equal("red lamp 9", "en")
    assert data.text[row] == "red lamp 9" and search.equal("red lamp 9", "ja") is None


# --- neighbours


def test_stored_neighbours_are_those_of_the_evaluation(made, shown):
    side = Viewer(shown).side("good", int(shown.data.rows_of("en")[7]), "ja")
    first = side.sections[0]
    assert first.language == "ja" and first.here and "evaluated" in first.among
    expected = looked.cosines(made, "good", "en", 7, "ja")
    order = np.argsort(-expected)[:10]
    assert [card.text for card in first.cards] == [looked.TEXTS["ja"].format(i) for i in order.tolist()]
    assert [card.score for card in first.cards] == pytest.approx(expected[order], abs=1e-5)


def test_computed_neighbours_of_every_language_leave_the_text_itself_out(made, shown):
    row = int(shown.data.rows_of("en")[7])
    side = Viewer(shown).side("bad", row, "ar", computed=True)
    assert [section.language for section in side.sections] == ["ar", "en", "ja"]
    for section in side.sections:
        expected = looked.cosines(made, "bad", "en", 7, section.language)
        if section.language == "en":
            expected[7] = -2
        order = np.argsort(-expected)[: len(section.cards)]
        found = [shown.data.item[card.row] for card in section.cards]
        assert found == order.tolist() and row not in [card.row for card in section.cards]
        assert "computed now" in section.among


def test_the_way_back_leads_to_images_and_says_where_the_own_one_is(made, shown):
    row = int(shown.data.rows_of("en")[7])
    (section, *_) = Viewer(shown).side("good", row, "ja").sections
    found = int(shown.data.item[section.cards[0].row])
    unit = made.images / np.linalg.norm(made.images, axis=1, keepdims=True)
    scores = unit @ unit[found]
    assert section.back.what == "images" and section.back.among == looked.N
    assert section.back.rank == int((scores > scores[7]).sum()) + 1
    assert [shown.data.item[card.row] for card in section.back.cards] == np.argsort(-scores)[:5].tolist()


def test_without_images_the_way_back_leads_to_texts(made):
    shown = looked.looking(made, image_encoder=None)
    assert shown.spaces.images is None and "--image-encoder" in shown.spaces.no_images
    row = int(shown.data.rows_of("en")[7])
    (section, *_) = Viewer(shown).side("good", row, "ja").sections
    back = looked.cosines(made, "good", "ja", int(shown.data.item[section.cards[0].row]), "en")
    assert section.back.what == "texts"
    assert section.back.rank == int((back > back[7]).sum()) + 1
    assert [shown.data.item[card.row] for card in section.back.cards] == np.argsort(-back)[:5].tolist()


def test_backretrieval_knows_no_answer_and_its_images(back):
    _, shown = back
    assert shown.task == "backretrieval" and shown.spaces.images is not None
    row = int(shown.queries["good"].row[0])
    target = shown.pairs[shown.queries["good"].pair[0]][1]
    assert Viewer(shown).answer(row, target) is None
    assert Viewer(shown).outcome("good", row, target).rank >= 1


def test_an_encoder_that_cannot_be_made_again_leaves_what_is_stored(tmp_path, made):
    class Mine:
        identity = "mine"

        def encode(self, batch):
            return np.random.default_rng(1).standard_normal((len(batch.text), 4)).astype(np.float32)

    data = Manifest.read(made.folder / "manifest.parquet")
    results = crosslingual_retrieval(data, {"mine": Mine()}, measures="R@3", store=None)
    shown = open_looking(results, data, marks=Marks(tmp_path / "m.json"), store=None)
    assert not shown.spaces.texts and "--text-encoder" in shown.spaces.without["mine"]
    side = Viewer(shown).side("mine", int(data.rows_of("en")[0]), "ja", computed=True)
    assert [section.language for section in side.sections] == ["ja", "ar"]
    assert "Only what the results keep" in side.note
    typed = Viewer(shown).typed("mine", "anything", "en")
    assert not typed.sections and "--text-encoder mine=SPEC" in typed.note
    with pytest.raises(InputError, match="no map"):
        Maps(shown).flat("mine", "pca")


def test_changed_vectors_are_not_taken_for_those_that_were_evaluated(tmp_path):
    made = looked.make(tmp_path)
    np.save(tmp_path / "good.en.npy", made.vectors["good", "en"] + 1)
    shown = looked.looking(made)
    assert "good" not in shown.spaces.texts and "another now" in shown.spaces.without["good"]
    assert "bad" in shown.spaces.texts


@pytest.mark.parametrize("there", [True, False])
def test_languages_that_were_not_evaluated_have_neighbours_where_they_have_vectors(tmp_path, there):
    made = looked.make(tmp_path)
    specs = {"good": f"vectors:{tmp_path}/good.{{lang}}.npy"}
    crosslingual_retrieval(made.data, specs, pairs="ja-en", measures="R@3", store=None).write(made.out)
    if not there:
        (tmp_path / "good.ar.npy").unlink()
    shown = looked.looking(made)
    row = int(shown.data.rows_of("ja")[7])
    side = Viewer(shown).side("good", row, "en")
    assert [one.language for one in side.sections] == (["en", "ar", "ja"] if there else ["en", "ja"])
    assert [shown.data.item[card.row] for card in side.sections[0].cards] == np.argsort(
        -looked.cosines(made, "good", "ja", 7, "en")
    )[:10].tolist()


def test_the_store_gives_vectors_and_nothing_is_encoded(tmp_path, made):
    code = tmp_path / "counting.py"
    code.write_text(
        "import numpy as np\ncalls = []\n\n"
        "def encode(texts: list[str]):\n    calls.append(len(texts))\n"
        "    return np.array([[len(t), t.count('a') + 1.0, 3.0] for t in texts], dtype=np.float32)\n"
    )
    spec, store = f"mine=python:{code}:encode?revision=1", tmp_path / "store"
    data = Manifest.read(made.folder / "manifest.parquet")
    results = crosslingual_retrieval(data, [spec], measures="R@3", store=store)
    results.write(tmp_path / "out")
    again = Results.read(tmp_path / "out")
    shown = open_looking(again, data, marks=Marks(tmp_path / "m.json"), store=store)
    assert len(shown.spaces.texts["mine"]) == len(data)
    assert Viewer(shown).typed("mine", "never seen before", "en").sections == []
    assert Viewer(shown).typed("mine", "red lamp 7", "en").sections != []  # the store holds its vector
    empty = open_looking(again, data, marks=Marks(tmp_path / "m.json"), store=tmp_path / "other")
    assert "the store holds no vectors of mine" in empty.spaces.without["mine"]
    asked = open_looking(
        again, data, marks=Marks(tmp_path / "m.json"), store=tmp_path / "other", text_encoders=[spec]
    )
    assert Viewer(asked).typed("mine", "never seen before", "en").sections != []


def test_nearest_is_exact_with_ties_in_the_order_of_the_data():
    rng = np.random.default_rng(0)
    vectors = rng.integers(-2, 3, (300, 4)).astype(np.float32)  # many ties, some zero vectors
    group = rng.integers(0, 3, 300)
    space = Space(np.arange(300), group, vectors, lambda what, language: None)
    length = np.linalg.norm(vectors.astype(float), axis=1, keepdims=True)
    unit = vectors / np.where(length > 0, length, 1)
    for row in range(0, 300, 23):
        for code in range(3):
            rows = np.flatnonzero((group == code) & (np.arange(300) != row))
            keys = np.round(unit[rows] @ unit[row], 9)
            expected = rows[np.lexsort((rows, -keys))][:10].tolist()
            own = int(rows[5])
            found = space.nearest(vectors[row], code, without=row, own=[own])
            assert found.rows == expected and found.among == len(rows)
            assert found.rank == int((keys > keys[5]).sum()) + 1


# --- maps


def test_pca_shows_the_directions_that_vary_most(shown):
    flat = Maps(shown).flat("good", "pca")
    space = shown.spaces.texts["good"]
    vectors = np.stack([space.vector(row) for row in flat.rows.tolist()]).astype(float)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    spread = np.sort(np.linalg.eigvalsh(np.cov(unit.T, bias=True)))[::-1]
    assert flat.share == pytest.approx(spread[:2].sum() / spread.sum())
    ratio = np.var(flat.points, axis=0)
    assert ratio[0] / ratio[1] == pytest.approx(spread[0] / spread[1])
    assert np.abs(flat.points).max() == pytest.approx(1)
    assert flat.place(vectors[:9].astype(np.float32)) == pytest.approx(flat.points[:9], abs=1e-5)


def test_a_map_is_coloured_and_shows_the_way(shown):
    maps, row = Maps(shown), int(shown.data.rows_of("en")[7])
    way = Viewer(shown).side("good", row, "ja").way
    drawn = maps.drawn("good", "pca", "language", "", way)
    assert sorted(drawn["labels"]) == ["Arabic", "English", "Japanese"]
    assert [one["row"] for one in drawn["way"]] == way and len(way) == 3
    assert len(drawn["points"]) == len(drawn["texts"]) == drawn["of"] == 3 * looked.N
    key = shown.slices.named("category: c1").key
    inside = maps.drawn("good", "pca", "slice", key, [])["points"]
    assert sum(point[2] for point in inside) == shown.slices.mask(key).sum()
    hubs = maps.drawn("bad", "pca", "hub", "", [])["points"]
    assert {point[3] for point in hubs if point[2]} == set(shown.queries["bad"].hubs)


def test_umap_is_used_where_it_is_installed(shown, monkeypatch):
    import sys

    class UMAP:
        def __init__(self, **options):
            self.options = options

        def fit_transform(self, vectors):
            return vectors[:, :2] * 7 + 3

        transform = fit_transform

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    monkeypatch.setattr("xlingual.browsing.mapping.missing", lambda extra: ())
    maps = Maps(shown)
    assert maps.methods() == ("pca", "umap")
    flat = maps.flat("good", "umap")
    assert np.abs(flat.points).max() == pytest.approx(1) and flat.share is None
    vectors = np.stack([shown.spaces.texts["good"].vector(row) for row in flat.rows[:4].tolist()])
    assert flat.place(vectors) == pytest.approx(flat.points[:4], abs=1e-5)


# --- marks


def test_marks_are_kept_and_given_out_without_formulas(tmp_path, shown):
    file = tmp_path / "marks.json"
    marks = Marks(file)
    marks.put("en", "ja", "i2", marked=True, note="=1+1 ملاحظة")
    marks.put("en", "ar", "i7", marked=False, note='look, "again"')
    again = Marks(file)
    assert again.of("en", "ja", "i2").note == "=1+1 ملاحظة" and again.of("en", "ja", "i2").marked
    lines = again.csv(shown.data, shown.rows).splitlines()
    assert lines[0] == "\ufeffsource,target,id,text,marked,note,changed"
    (formula,) = (line for line in lines if ",i2," in line)
    assert "'=1+1" in formula and "'=HYPERLINK" in formula
    again.put("en", "ja", "i2", marked=False, note=" ")
    assert [mark.id for mark in Marks(file).all()] == ["i7"]


def test_two_servers_lose_no_mark_of_each_other(tmp_path):
    one, two = Marks(tmp_path / "marks.json"), Marks(tmp_path / "marks.json")
    for number in range(5):
        (one, two)[number % 2].put("en", "de", f"i{number}", marked=True, note="")
    assert len(Marks(tmp_path / "marks.json").all()) == 5


@pytest.mark.parametrize("content", [b"[1]", b"\xff", b"{}", b'{"schema": "xlingual/marks/1", "marks": [3]}'])
def test_a_file_that_holds_no_marks_is_refused_and_left_alone(tmp_path, content):
    (tmp_path / "m.json").write_bytes(content)
    with pytest.raises(InputError, match=re.escape("holds no marks of xlingual browse")):
        Marks(tmp_path / "m.json")
    assert (tmp_path / "m.json").read_bytes() == content
