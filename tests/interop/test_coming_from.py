"""Every block of docs/how-to/coming-from/ runs where the files it names are, and prints what is shown.

Stand-ins: file systems of hf:// and s3:// in memory, and a service on this machine.
"""

import csv
import json
import random
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from runpy import run_path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

for library in (
    "sentence_transformers", "mteb", "ranx", "ir_measures", "langchain_core",
    "pandas", "polars", "datasets", "httpx", "accelerate",
):  # fmt: skip
    pytest.importorskip(library)

from tests.pages.blocks import blocks_of, check_printed, run_by  # noqa: E402

from xlingual import Manifest, crosslingual_retrieval, write_scenes  # noqa: E402
from xlingual.cli.main import run  # noqa: E402
from xlingual.data.pools.mix import mix_pool  # noqa: E402

PAGES = sorted((Path(__file__).parents[2] / "docs" / "how-to" / "coming-from").glob("*.md"))
services = run_path(str(Path(__file__).parents[1] / "unit" / "encoders" / "embedding_server.py"))
COLOURS = ("red", "blue", "green", "white", "black")
NOUNS = (("chair", "Stuhl"), ("lamp", "Lampe"), ("table", "Tisch"), ("box", "Kiste"))
PLACES = (("for the hall", "für den Flur"), ("for the garden", "für den Garten"))


@pytest.fixture
def files(copied, tmp_path, monkeypatch):
    copied("sentence_plain", "my-model")
    copied("sparse_encoder", "our-splade")
    copied("multi_vector_encoder", "our-colbert")
    products(tmp_path)
    retrieval_folder(tmp_path / "beir")
    monkeypatch.chdir(tmp_path)
    scenes(tmp_path)
    corpus(tmp_path / "FOLDER")
    for name, spec in (("new", "chargram"), ("old", "random")):
        options = {"text_column": "title_{lang}", "store": None}
        crosslingual_retrieval("products.csv", {"mine": spec}, **options).write(f"out/{name}")
    (tmp_path / "deploy").write_text("#!/bin/sh\ntouch deployed\n")
    (tmp_path / "deploy").chmod(0o755)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "store"))
    return tmp_path


def scenes(folder):
    """Write shop.parquet with images, a pool of the same texts, and pairs to train on.

    The texts are short and all different, so that the tiny networks make no two vectors equal.
    """
    path = write_scenes(folder / "scenes", n=100, languages=["en", "de"], seed=3)
    shutil.copytree(path.parent / "images", folder / "images")
    draw, rows = random.Random(4), pq.read_table(path).to_pylist()
    words = ["lamp", "red", "chair", "table", "water", "glass", "blue", "green", "small", "tall"]
    for row in rows:
        said = draw.choices(words, k=5)
        for tag in ("en", "de"):
            row[f"text_{tag}"] = " ".join([tag, *said, draw.choice(words)])
    pq.write_table(pa.Table.from_pylist(rows), folder / "shop.parquet")
    mix_pool(Manifest.read(folder / "shop.parquet")).write(folder / "pool")
    pairs = "".join(f"a {i},b {i}\n" for i in range(16))
    (folder / "pairs.csv").write_text(f"anchor,positive\n{pairs}", encoding="utf-8")


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


def corpus(folder):
    """Write Multi30k as it is downloaded, without its images."""
    (folder / "task1" / "raw").mkdir(parents=True)
    for tag, word in (("en", "a"), ("de", "ein")):
        lines = "".join(f"{word} {i}\n" for i in range(4))
        (folder / "task1" / "raw" / f"val.{tag}").write_text(lines, encoding="utf-8")


def run_shell(block, service, monkeypatch):
    """Run the lines of a block: the commands of this program here, what follows && in a shell."""
    stood_in = {"api:MODEL?base_url=https://HOST/v1": service.spec, "_KEY=…": f"_KEY={services['KEY']}"}
    for said, instead in stood_in.items():
        block = block.replace(said, instead)
    for line in block.splitlines():
        command, _, then = re.sub(r"\s+# .*", "", line).partition(" && ")
        words = shlex.split(command)
        if words[0] == "export":
            monkeypatch.setenv(*words[1].split("="))
            continue
        assert words[0] == "xlingual" and run(words[1:]) == 0, line
        if then:
            subprocess.run(["sh", "-c", then], check=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_run_and_print_what_is_shown(page, files, capsys, monkeypatch):
    assert run_by(page) == "tests/interop/test_coming_from.py"
    names, printed = {"__name__": "page"}, ""
    with services["serving"]() as service:
        for block in blocks_of(page):
            if block.kind == "text":
                check_printed(block.content, printed, f"{page.name}, the block before line {block.line}")
                continue
            capsys.readouterr()
            if block.kind == "python":
                exec(compile(block.content, f"{page.name}, line {block.line}", "exec"), names)
            else:
                run_shell(block.content, service, monkeypatch)
            printed = capsys.readouterr().out
    check_files(page.stem, files, service)


def check_files(page, folder, service):
    """Assert that the page's commands wrote their files, and asked the service as they should."""
    if page == "sentence-transformers":
        assert "</html>" in (folder / "report.html").read_text(encoding="utf-8")
        (table,) = (folder / "trained" / "eval").iterdir()
        assert table.name == "Backretrieval_evaluation_shop_results.csv"
    elif page == "other-libraries":
        assert service.sent
        assert all((folder / name).exists() for name in ("FOLDER/multi30k.parquet", "deployed"))


def test_numbers_of_both_libraries_stand_side_by_side_and_are_equal():
    rows = [
        row.split()
        for page in PAGES
        for block in blocks_of(page)
        if block.kind == "text"
        for row in block.content.splitlines()
    ]
    pairs = [row[1:] for row in rows if len(row) >= 3 and re.fullmatch(r"\d\.\d{6}", row[1])]  # name, values
    assert len(pairs) >= 9
    assert all(len(set(row)) == 1 for row in pairs), pairs
