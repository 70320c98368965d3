"""Every block of docs/coming-from.md runs, one after the other, in a folder that has the files it names."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

for library in (
    "sentence_transformers", "mteb", "ranx", "ir_measures", "model2vec", "langchain_core", "llama_index.core",
    "haystack", "pandas", "polars", "duckdb", "datasets", "faiss",
):  # fmt: skip
    pytest.importorskip(library)

PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
COLOURS = ("red", "blue", "green", "white", "black")
NOUNS = (("chair", "Stuhl"), ("lamp", "Lampe"), ("table", "Tisch"), ("box", "Kiste"))
PLACES = (("for the hall", "für den Flur"), ("for the garden", "für den Garten"))


@pytest.fixture
def files(copied, tmp_path, monkeypatch):
    copied("sentence_bert", "my-model")
    copied("sparse_encoder", "our-splade")
    copied("multi_vector_encoder", "our-colbert")
    static_model(tmp_path / "our-static-model")
    products(tmp_path)
    retrieval_folder(tmp_path / "beir")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "store"))
    return tmp_path


def products(folder):
    """Write forty products with photos: products.csv and photos/."""
    from PIL import Image

    rng = np.random.default_rng(0)
    (folder / "photos").mkdir()
    names = [
        (f"{colour} {en} {hall}", f"{en} {colour} {de} {flur}")
        for colour in COLOURS for en, de in NOUNS for hall, flur in PLACES
    ]  # fmt: skip
    with (folder / "products.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sku", "title_en", "title_de", "image"])
        for i, titles in enumerate(names):
            path = f"photos/{i}.png"
            Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).save(folder / path)
            writer.writerow([f"p{i}", *titles, path])


def retrieval_folder(folder):
    """Write a retrieval folder in two languages, as MTEB has them."""
    for tag, noun in (("en", "chair"), ("de", "Stuhl")):
        (folder / tag / "qrels").mkdir(parents=True)
        documents = [{"_id": f"d{i}", "title": "", "text": f"{noun} {i}"} for i in range(4)]
        queries = [{"_id": f"q{i}", "text": f"{noun}? {i}"} for i in range(3)]
        for name, rows in (("corpus", documents), ("queries", queries)):
            lines = "\n".join(map(json.dumps, rows))
            (folder / tag / f"{name}.jsonl").write_text(lines, encoding="utf-8")
        judged = "\n".join(f"q{i}\td{i}\t1" for i in range(3))
        (folder / tag / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}\n")


def static_model(folder):
    """Save a model of model2vec."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["[UNK]", *COLOURS, *(noun for pair in NOUNS for noun in pair)]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(0).normal(size=(len(words), 8)).astype("float32")
    StaticModel(vectors, tokenizer).save_pretrained(folder)


@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
def test_the_blocks_run(files, capsys):
    found = {}
    for block in BLOCKS:
        exec(compile(block, str(PAGE), "exec"), found)
    assert "</html>" in (files / "report.html").read_text(encoding="utf-8")
    assert (files / "runs" / "en-de" / "mine.run").exists()
    assert (files / "pairs.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "np.save('v.npy', " in capsys.readouterr().out  # the line that converts a pickle
