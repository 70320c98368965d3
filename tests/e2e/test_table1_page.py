"""The page on the paper's Table 1: its file is accepted, and small stand-ins give eight rows."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from xlingual.cli.main import run
from xlingual.cli.validation import validate
from xlingual.encoders.scheme import IMAGES, TEXTS
from xlingual.encoders.spec import parse, read_options, scheme_for
from xlingual.evaluation.metric_validation import agreement

TEXT = Path(__file__).parents[2].joinpath("docs/papers/backretrieval-table1.md").read_text(encoding="utf-8")
PREPARE, LASER = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
(TOML,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [
    line.split("#")[0] for line in re.findall(r"^xlingual .*$", "".join(TEXT.split("```")[1::2]), re.M)
]


@pytest.fixture
def downloads(tmp_path, monkeypatch):
    """Make the files of the downloads, small, in the current folder."""
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)

    def image(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        content = io.BytesIO()
        Image.fromarray(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)).save(content, "JPEG")
        path.write_bytes(content.getvalue())

    def text(path: str, lines: list[str]) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        data = ("\n".join(lines) + "\n").encode()
        Path(path).write_bytes(gzip.compress(data) if path.endswith(".gz") else data)

    def made(n: int, lang: str) -> list[str]:
        words = ("lamp", "table", "chair", "bed", "rug", "shelf", "cup", "sofa")
        return [" ".join(rng.choice(words, 4)) + f" {lang}" for _ in range(n)]

    flickr = {"train": ("train", 20), "val": ("val", 6), "test_2016": ("test_2016_flickr", 6)}
    for split, (images, n) in flickr.items():
        names = [f"{split}{i}.jpg" for i in range(n)]
        text(f"multi30k-dataset/data/task1/image_splits/{images}.txt", names)
        for name in names:
            image(Path("flickr30k-images") / name)
        for lang in ("en", "de"):
            for k in range(1, 6):
                text(f"multi30k-dataset/data/task2/raw/{split}.{k}.{lang}.gz", made(n, lang))
    for file, lang in (
        ("annotations/captions_val2014.json", "en"),
        ("STAIR-captions/stair_captions_v1.2_val.json", "ja"),
    ):
        rows = [
            {"id": 2 * i + k, "image_id": i, "caption": f"{caption}\n{k}"}
            for k in (1, 0)
            for i, caption in enumerate(made(32, lang))
        ]
        text(file, [json.dumps({"annotations": rows})])
    for i in range(32):
        image(Path(f"val2014/COCO_val2014_{i:012}.jpg"))
    for lang in ("de", "fr"):
        folder = f"IKEA-Dataset/IKEA/data.en.{lang}"
        for split, n in (("train", 20), ("val", 6), ("test", 6)):
            names = [f"{split}{i}.jpg" for i in range(n)]
            text(f"{folder}/image.index/{split}_WMT_2017_images.txt", names)
            for name in names:
                image(Path(f"IKEA-Dataset/IKEA/image/image.en.{lang}/{name}"))
            for tag in ("en", lang):
                text(f"{folder}/data.raw/{split}_WMT_2017.{tag}.gz", made(n, tag))
    return tmp_path


@pytest.mark.slow
def test_stand_ins_give_the_eight_rows(downloads, monkeypatch, capsys):
    monkeypatch.setattr(agreement, "REPLICATES", 40)
    exec(compile(PREPARE, "prepare.py", "exec"), {})
    for name in ("multi30k", "stair", "ikea_de", "ikea_fr"):
        assert run(["data", "check", f"{name}.parquet"]) == 0
        assert re.search(r"\b32\b", capsys.readouterr().out)
    small = re.sub(r"text-encoder = \[.*?\]", 'text-encoder = ["random", "chargram", "c=chargram:?n=2-2"]',
                   TOML, flags=re.DOTALL)  # fmt: skip
    small = re.sub(r"sample = \d+.*\n", "", small).replace("hf:microsoft/resnet-50", "pixels")
    small = small.replace("both-dir", "sample = 14\nseeds = 2\nmeasure = 'R@3'\nboth-dir")
    Path("table1.toml").write_text(small, encoding="utf-8")
    assert run(shlex.split(COMMANDS[-3].partition(">")[0])[1:]) == 0
    table = json.loads(Path("out/validation_table.json").read_text())
    assert not [warning for warning in table["warnings"] if "differ" in warning]
    rows = table["rows"]
    assert [(row["data_set"], row["source"], row["target"]) for row in rows] == [
        (name, *pair)
        for name, other in (("STAIR", "ja"), ("Multi30k", "de"), ("IKEA-de", "de"), ("IKEA-fr", "fr"))
        for pair in (("en", other), (other, "en"))
    ]
    for command in COMMANDS[-2:]:
        assert run(shlex.split(command.partition(">")[0])[1:]) == 0
        assert "STAIR" in capsys.readouterr().out
    assert Path("out/STAIR/report.html").exists() and Path("out/report.html").exists()


def test_the_file_and_every_spec_are_accepted():
    shared = tomllib.loads(TOML)
    sets = {name: validate.request(shared | own, name) for name, own in shared.pop("sets").items()}
    assert {name: one.sampling.sample for name, one in sets.items()} == {
        "STAIR": 10_000, "Multi30k": 10_000, "IKEA-de": 1_500, "IKEA-fr": 1_500
    }  # fmt: skip
    assert {(one.sampling.seeds, one.sampling.texts_per_item) for one in sets.values()} == {(None, 1)}
    assert {one.measure for one in sets.values()} == {"R@10"}
    for one in sets.values():
        for text in one.text_encoders:
            spec = parse(text)
            read_options(spec, scheme_for(spec, TEXTS))
            if spec.base is not None:
                read_options(spec.base, scheme_for(spec.base, TEXTS))
        spec = parse(one.images.image_encoder)
        read_options(spec, scheme_for(spec, IMAGES))
    families = {re.match(one.family, text.partition("=")[0])[0] for text in sets["IKEA-de"].text_encoders}
    assert len(families) == 11
    assert all("{lang}" not in text for text in sets["STAIR"].text_encoders)


def test_the_function_of_laser_gets_texts(tmp_path, monkeypatch):
    class Pipeline:
        def encode_sentences(self, texts):
            return np.ones((len(texts), 4))

    monkeypatch.setitem(sys.modules, "laser_encoders", type(sys)("laser_encoders"))
    sys.modules["laser_encoders"].LaserEncoderPipeline = Pipeline
    found = {}
    exec(compile(LASER, "laser.py", "exec"), found)
    assert found["laser2"](("a", "b")).shape == (2, 4)
