"""Table 1 of the Backretrieval paper on IKEA, emoji and scenes: makes data and vectors, runs table1.toml.

IKEA has 24 encoders with vectors of its own. For emoji and scenes the encoders of `table1_encoders` are
fitted on other items, and their vectors written. What is finished in the folder TABLE1 (out/table1) is not
done again. Validations and table, without values by seed, go to docs/results/metric-validation.json.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.table1_encoders import encoders
from xlingual import Manifest
from xlingual.cli.main import run
from xlingual.demo_data.scenes import write_scenes

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")).absolute()
FOLDER = Path(os.environ.get("TABLE1", "out/table1"))
FIGURES = Path("docs/results/metric-validation.json").absolute()
TOML = Path(__file__).with_suffix(".toml")
EMOJI, SCENES = ("en", "de", "es", "pt", "ru", "ja"), ("en", "de", "ar", "ja")
_LEFT_OUT = ("per_seed", "timings", "run", "warnings", "truncated", "method", "test")
DIGITS = 6


def main() -> None:
    """Prepare what is missing, run the file, and keep the figures."""
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / "data").exists():
        (FOLDER / "data").symlink_to(DATA)
    emoji(FOLDER / "emoji")
    scenes(FOLDER / "scenes")
    shutil.copy(TOML, FOLDER)
    code = run(["run", str(FOLDER / TOML.name)])
    assert code == 0, code
    FIGURES.write_text(json.dumps(figures(FOLDER / "out"), ensure_ascii=False) + "\n", encoding="utf-8")


def emoji(folder: Path) -> None:
    """Write one half of the emoji, with names and keywords as texts, and vectors fitted on the other half."""
    table = pq.read_table(DATA / "emoji" / "emoji.parquet").to_pylist()
    half, rest = np.array_split(np.random.default_rng(20).permutation(len(table)), 2)
    rows = [
        {"id": row["id"], "image": row["image_png"]} | {f"text_{lang}": _text(row, lang) for lang in EMOJI}
        for row in table
    ]
    train = {lang: [rows[i][f"text_{lang}"] for i in rest] for lang in EMOJI}
    folder.mkdir(exist_ok=True)
    if not (folder / "manifest.parquet").exists():
        pq.write_table(pa.Table.from_pylist([rows[i] for i in half]), folder / "manifest.parquet")
    write_vectors(folder / "vectors", train, Manifest.read(folder / "manifest.parquet"))


def _text(row: Mapping[str, Any], lang: str) -> str:
    return f"{row[f'name_{lang}']}: {row[f'keywords_{lang}'].replace(' | ', ', ')}"


def scenes(folder: Path) -> None:
    """Write scenes, and vectors of those of the split test, fitted on the split train."""
    path = folder / "manifest.parquet"
    if not path.exists():
        write_scenes(folder, n=1600, languages=SCENES, seed=31, train=0.5)
    train, test = (Manifest.read(path, split=split) for split in ("train", "test"))
    write_vectors(folder / "vectors", {lang: texts(train, lang) for lang in SCENES}, test)


def texts(manifest: Manifest, language: str) -> list[str]:
    """Return the texts of a language, in order."""
    return list(manifest.texts(manifest.rows_of(language)).text)


def write_vectors(folder: Path, train: Mapping[str, Sequence[str]], manifest: Manifest) -> None:
    """Write the vectors of all encoders, one file for each language; nothing where they are there."""
    if folder.exists():
        return
    part = folder.with_suffix(".part")
    part.mkdir(exist_ok=True)
    for name, encoder in encoders(train).items():
        for lang in train:
            vectors = encoder.encode(manifest.texts(manifest.rows_of(lang)))
            np.save(part / f"{name.replace('.', '-')}.{lang}.npy", vectors.astype(np.float16))
    part.rename(folder)


def figures(folder: Path) -> dict[str, Any]:
    """Return the validations and their table, without values by seed and what differs between equal runs."""
    found = {
        name: json.loads((folder / name / "validation.json").read_text("utf-8"))
        for name in ("IKEA", "emoji", "scenes")
    }
    found["table"] = json.loads((folder / "validation_table.json").read_text("utf-8"))
    return _without(found)


def _without(value: Any) -> Any:
    if isinstance(value, list):
        return [_without(one) for one in value]
    if isinstance(value, dict):
        return {key: _without(one) for key, one in value.items() if key not in _LEFT_OUT}
    return round(value, DIGITS) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
