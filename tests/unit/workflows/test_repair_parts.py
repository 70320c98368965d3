"""`repair`: the rows of its parts are written and used again; equal texts stay together; no tiny parts."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import Manifest, MultilingualPool, crosslingual_retrieval, multilingual_pool
from xlingual.cli.main import run
from xlingual.data.pools.mix import mix_pool
from xlingual.data.pools.pool import split_pool
from xlingual.encoders import Encoder
from xlingual.errors import DataWarning, InputError
from xlingual.report import page_of
from xlingual.results.repair import Repair
from xlingual.workflows.repairing import repair_encoder
from xlingual.workflows.repairing.parts import PARTS, Divided, three_parts

TAGS, DIM, ITEMS = ("de", "en", "zh"), 8, 60


class ByNumber(Encoder):
    """A vector for the number in a text, moved by language."""

    content, identity = ("text",), "by-number"

    def encode(self, batch, /):
        rows = []
        for text, tag in zip(batch.text, batch.language, strict=True):
            rng = np.random.default_rng([int(text.split()[1]), 7])
            noise = np.random.default_rng([int(text.split()[1]), TAGS.index(tag)])
            rows.append(rng.normal(size=DIM) + 0.6 * noise.normal(size=DIM) + 1.5 * TAGS.index(tag))
        return np.array(rows, dtype=np.float32)


def rows_of(items=ITEMS, **more):
    return [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": str(i), "shade": f"s{i % 3}", **more}
        for i in range(items)
        for tag in TAGS
    ]


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def repaired(data, **more):
    return repair_encoder(data, ByNumber(), hubs=False, store=None, **more)


def texts_of(part):
    sides = part.questions, part.candidates
    return {
        (part.languages[code], text) for s in sides for code, text in zip(s.language, s.text, strict=True)
    }


def test_the_part_of_a_pool_for_testing_gives_the_tested_number_again(tmp_path):
    pool = mix_pool(Manifest.of(rows_of()), seed=0)
    made = repaired(pool)
    assert made.found.parts == "pool"
    made.write(tmp_path)
    assert Repair.read(tmp_path).parts == "pool"
    sizes = {name: MultilingualPool.read(tmp_path / "pool", split=name) for name in PARTS}
    for name, part in sizes.items():
        size = getattr(made.found, name)
        assert (len(part.questions), len(part.candidates)) == (size.questions, size.candidates)
    results = multilingual_pool(sizes["test"], {"plain": ByNumber()}, views=False, store=None)
    assert results.entries[0].value == pytest.approx(made.found.whole.before, abs=1e-12)
    whole = MultilingualPool.read(tmp_path / "pool")
    assert set(whole.questions.split) == set(whole.candidates.split) == set(PARTS)
    assert whole.digest == pool.digest


def test_the_rows_of_a_manifest_are_those_that_were_used(tmp_path):
    data = Manifest.read(written(tmp_path / "data.jsonl", rows_of()))
    made = repaired(data)
    made.write(tmp_path / "out")
    again = Manifest.read(tmp_path / "out" / "parts.parquet")
    assert list(again.ids) == list(data.ids) and list(again.text) == list(data.text)
    assert again.digest == data.digest and list(again.labels["shade"]) == list(data.labels["shade"])
    parts = three_parts(mix_pool(data, seed=0), (0.4, 0.2, 0.4), 0, "paragraph")
    for name, part in zip(PARTS, parts, strict=True):
        own = Manifest.read(tmp_path / "out" / "parts.parquet", split=name)
        tags = [own.languages[code] for code in own.language]
        assert set(zip(tags, own.text, strict=True)) == texts_of(part)
        assert {own.item_ids[code] for code in own.item} == set(part.questions.key)


def test_texts_that_no_part_holds_have_no_split(tmp_path):
    rows = rows_of()
    rows.append({**rows[0], "id": "again"})  # a text that an item has twice
    data = Manifest.of(rows)
    with pytest.warns(DataWarning, match="twice|equal|same"):
        place = repaired(data).divided.write(tmp_path)
    split = dict(zip(*(pq.read_table(place)[name].to_pylist() for name in ("id", "split")), strict=True))
    assert sorted(name for name, own in split.items() if own not in PARTS) == ["again"]
    assert split["again"] == ""


def test_files_of_vectors_fit_as_they_did_and_the_spec_names_the_part(tmp_path):
    """All rows of the file are there, also where some were chosen; a transform is fitted on the part."""
    wide = [
        {
            "id": str(i),
            "image": b"\x89PNG" if i == 3 else None,
            **{f"name_{tag}": f"{tag} {i}" for tag in TAGS},
        }
        for i in range(ITEMS + 5)
    ]
    pq.write_table(pa.Table.from_pylist(wide), tmp_path / "wide.parquet")
    for number, tag in enumerate(TAGS):
        np.save(tmp_path / f"v.{tag}.npy", np.random.default_rng(number).normal(size=(ITEMS + 5, DIM)))
    spec = f"vectors:{tmp_path}/v.{{lang}}.npy"
    data = Manifest.read(tmp_path / "wide.parquet", text_column="name_{lang}", rows=f"5:{ITEMS + 5}")
    made = repair_encoder(data, spec, hubs=False, store=None)
    place = made.divided.write(tmp_path / "out")
    table = pq.read_table(place)
    assert len(table) == 3 * (ITEMS + 5) and table["split"].to_pylist()[:15] == [""] * 15
    assert table["image"].to_pylist().count(b"\x89PNG") == 3
    test = Manifest.read(place, split="test")
    shown = {"plain": spec, "centred": f"centre:?fit={place}#fit::{spec}"}
    results = crosslingual_retrieval(test, [f"{name}={one}" for name, one in shown.items()], store=None)
    assert {entry.encoder for entry in results.entries} == set(shown)
    with pytest.raises(InputError, match="was fitted on"):
        crosslingual_retrieval(test, f"centre:?fit={place}#test::{spec}", store=None)


def test_the_data_and_what_others_wrote_are_never_replaced(tmp_path, capsys):
    pool = mix_pool(Manifest.of(rows_of(30)), seed=0)
    pool.write(tmp_path / "pool")
    before = (tmp_path / "pool" / "questions.parquet").read_bytes()
    given = ["repair", str(tmp_path / "pool"), "--text-encoder", "random:?dim=4", "--out", str(tmp_path)]
    assert run([*given, "--no-hubs"]) != 0
    with pytest.raises(InputError, match=r"pool/questions\.parquet.*would be lost"):
        Divided(Manifest.of(rows_of(3)), []).write(tmp_path)
    assert (tmp_path / "pool" / "questions.parquet").read_bytes() == before
    rows = np.arange(3)
    divided = Divided(Manifest.of(rows_of(3)), [(rows, rows), (rows + 3, rows), (rows + 6, rows)])
    divided.write(tmp_path / "out")
    with pytest.raises(InputError, match=r"parts\.parquet, which would be lost"):
        divided.write(tmp_path / "out")
    (tmp_path / "out" / "repair.json").write_text("{}")  # those of an earlier repair
    assert divided.write(tmp_path / "out").exists()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=60, max_size=60), st.integers(0, 3))
def test_equal_texts_are_never_in_two_parts(numbers, seed):
    """Items 0 … 59 with texts that many share, with blanks around them."""
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {n}{' ' * (i % 3)}", "item": str(i)}
        for i, n in enumerate(numbers)
        for tag in TAGS[:2]
    ]
    data = Manifest.of(rows)
    try:
        parts = three_parts(mix_pool(data, seed=0), (0.4, 0.2, 0.4), seed, "paragraph")
    except InputError:
        return  # too few are left
    seen = [{(tag, text.strip()) for tag, text in texts_of(part)} for part in parts]
    assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]


def test_other_divisions_do_not_look_at_texts():
    rows = [{**row, "text": f"{row['lang']} {i // 6}"} for i, row in enumerate(rows_of())]
    pool = mix_pool(Manifest.of(rows), seed=0)
    apart, joined = split_pool(pool, 0.5), split_pool(pool, 0.5, by_text=True)
    texts = [
        {q.text[row] for row in range(len(q)) if q.split[row] == name}
        for q in (apart.questions, joined.questions)
        for name in ("train", "test")
    ]
    assert texts[0] & texts[1] and not texts[2] & texts[3]


def test_data_that_cannot_tell_repairs_apart(monkeypatch):
    """One-hot vectors of items, equal in all languages: everything finds everything."""

    class Perfect(ByNumber):
        def encode(self, batch, /):
            return np.eye(ITEMS, dtype=np.float32)[[int(text.split()[1]) for text in batch.text]]

    found = repair_encoder(Manifest.of(rows_of(30)), Perfect(), hubs=False, store=None).found
    assert {one.value for one in found.tried} == {1.0}
    (verdict,) = (" ".join(block.sentences) for block in page_of(found).verdict)
    assert "1 questions" not in verdict and "is better than the unchanged" not in verdict
