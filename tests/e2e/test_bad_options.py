"""Bad options, specs and splits: exit code 2, and one line that names what, where and the remedy."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py"))))
GOOD = shared.GOOD
refused = shared.refused


# Options of a command that is right otherwise.
OPTIONS: dict[str, tuple[list[object], list[str]]] = {
    "unknown language": (["--pairs", "en-fr"], ["'en-fr'", "'fr'", "en, de, es"]),
    "nearest language": (["--pairs", "en-dee"], ["'dee'", "Did you mean 'de'?"]),
    "letter case of a language": (["--pairs", "EN-DE"], ["'EN'", "Did you mean 'en'?"]),
    "language of other letters": (["--pairs", "en-fr"], ["unknown language 'fr'. The manifest has"]),
    "same language twice": (["--pairs", "en-en"], ["'en-en'", "same language"]),
    "half a pair": (["--pairs", "en"], ["'en'", "source:target"]),
    "no pair": (["--pairs", ","], ["--pairs en-de"]),
    "another separator": (["--pairs", "en>de"], ["'en>de'", "unknown language"]),
    "column that is not there": (
        ["--image-column", "image_png"],
        ["s/manifest.parquet", "'image_png'", "image"],
    ),
    "pattern that fits nothing": (["--text-column", "txt_{lang}"], ["txt_{lang}"]),
    "unknown split": (["--split", "tset"], ["'tset'", "'test'", "train, test"]),
    "rows": (["--rows", "5"], ["--rows '5'", "A:B"]),
    "rows beyond": (["--rows", "500:"], ["500:", "rows 0 to 119"]),
    "sample of none": (["--sample", "0"], ["--sample", "at least 1", "0"]),
    "K not below the images": (["--measure", "R@60"], ["R@60", "60", "en-de", "divided", "smaller k"]),
    "R@0": (["--measure", "R@0"], ["'R@0'", "k of at least 1"]),
    "unknown measure": (["--measure", "recal@10"], ["'recal@10'", "Did you mean 'R@10'?"]),
    "measure of another task": (["--measure", "CORR"], ["'CORR'", "R@k"]),
    "unknown similarity": (
        ["--similarity", "cslr"],
        ["--similarity cslr ", "Did you mean 'csls'?", "csls?fit=FILE#train"],
    ),
    "option of a similarity": (["--similarity", "csls?n=5"], ["csls has k", "csls?k=10&fit=FILE#train"]),
    "similarity without a bank": (
        ["--similarity", "csls"],
        ["training queries", "csls?fit=FILE#train"],
    ),
    "unknown option of a spec": (["--text-encoder", "random:?dims=3"], ["'dims'", "Did you mean 'dim'?"]),
    "value in a spec": (["--text-encoder", "random:?dim=0"], ["dim", "at least 1", "'0'"]),
    "two encoders of one name": (["--text-encoder", GOOD], ["'good'", "good-2=SPEC"]),
    "no seeds": (["--seeds", "0"], ["--seeds", "1 to", "0"]),
    "negative seed": (["--seed", "-1"], ["--seed", "-1"]),
    "huge seed": (["--seed", "9" * 25], ["--seed", "9" * 25]),
    "no threads": (["--threads", "0"], ["--threads", "0"]),
    "threads in words": (["--threads", "two"], ["--threads", "'two'", "--help"]),
    "unknown option": (["--text-encodr", "x"], ["'--text-encodr'", "'--text-encoder'"]),
    "splits that are not there": (["--sample", "no.npz"], ["no.npz", "missing"]),
    "unquoted pattern": (["v/good.de.npy", "v/good.en.npy"], ["'v/good.de.npy'", "quotes", "*.{lang}.npy"]),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_option(bkr: Any, case: str) -> None:
    more, words = OPTIONS[case]
    refused(bkr(*more), *words)


SPECS: dict[str, tuple[str, list[str]]] = {
    "unknown scheme": ("vectro:x.npy", ["'vectro'", "Did you mean 'vectors'?"]),
    "mistyped word": ("randm", ["'randm'", "Did you mean 'random'?"]),
    "empty": ("", ["spec ''", "vectors:model.{lang}.npy"]),
    "images only": ("pixels", ["'pixels'", "encodes images, not texts", "random"]),
    "A on top of B": ("random::lsa", ["'random'", "cannot be applied"]),
    "no fit": ("lsa", ["lsa", "fit=FILE#train"]),
    "fit file": ("lsa:?fit=no.parquet#train", ["fit=no.parquet#train", "no such file"]),
    "fit split": ("lsa:?fit=s#trian", ["fit=s#trian", "'trian'", "Did you mean 'train'?"]),
    "fitted on what is evaluated": ("lsa:?fit=s#train", ["'lsa'", "180 of the 360", "--split test"]),
    "chargram fitted on what is evaluated": ("chargram:?fit=s#test", ["'chargram'", "of the 360"]),
    "too many pairs to fit": ("lsa:?pairs=9999&fit=s#train", ["9999", "lower pairs="]),
    "missing file": ("v/god.{lang}.npy", ["v/god.en.npy", "Did you mean 'good.en.npy'?"]),
    "placeholder": (
        "v/good.{language}.npy",
        ["v/good.{language}.npy not", "{lang}"],
    ),
    "placeholder and star": ("v/*.{tag}.npy", ["no file matches", "{tag}", "{lang}"]),
    "star for the language": ("v/good.*.npy", ["the language de", "write v/good.{lang}.npy"]),
    "fit rows": ("lsa:?fit=s#500:", ["fit=s#500:", "rows 500:", "rows 0 to 119"]),
    "fitted on rows that are evaluated": ("lsa:?fit=s#100:120", ["'lsa'", "60 of the 360"]),
    "missing folder": ("w/good.{lang}.npy", ["w/good.en.npy", "not found"]),
    "pattern without a match": ("v/*.{lang}.safetensors", ["v/*.{lang}.safetensors", "no file matches"]),
    "other suffix": ("v/good.h5", ["v/good.h5", "a file of vectors ends in .npy"]),
    "a pickle": ("v/good.pt", ["v/good.pt", ".npy", "numpy.save"]),
    "a folder": ("s.npy", ["s.npy is a folder"]),
}


@pytest.mark.parametrize("case", SPECS)
def test_spec(bkr: Any, case: str) -> None:
    spec, words = SPECS[case]
    Path("s.npy").mkdir()
    refused(bkr(text=spec), *words)


SPLITS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, ["S and T", "[seeds, n]"]),
    "no T": ({"S": [[1, 2]]}, ["S and T"]),
    "floats": ({"S": [[1.5]], "T": [[2]]}, ["S is float64", "integer"]),
    "one dimension": ({"S": [1], "T": [2]}, ["(1,)", "[seeds, n]"]),
    "beyond the data": ({"S": [[1]], "T": [[120]]}, ["T holds item 120", "0 to 119"]),
    "negative": ({"S": [[-1]], "T": [[1]]}, ["S holds item -1"]),
    "twice": ({"S": [[1, 1]], "T": [[2, 3]]}, ["S names an item twice", "row 0"]),
    "rows": ({"S": [[1], [2]], "T": [[3]]}, ["S is", "(2, 1)"]),
    "matching": ({"S": [[1, 2]], "T": [[2, 3]]}, ["1 items are both", "'scene-000002'", "non-matching"]),
    "objects": ({"S": np.array([[None]]), "T": [[1]]}, ["numpy.savez"]),
}


@pytest.mark.parametrize("case", SPLITS)
def test_splits(bkr: Any, case: str) -> None:
    arrays, words = SPLITS[case]
    np.savez("splits.npz", **arrays)
    refused(bkr("--sample", "splits.npz"), *words)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 cut short", b"\x93NUMPY", "damaged"])
def test_splits_that_are_no_npz(bkr: Any, content: bytes | str) -> None:
    if isinstance(content, str):
        np.savez("splits.npz", S=[[1]], T=[[2]])
        content = Path("splits.npz").read_bytes()
        content = content.replace(b"(1, 1)", b"(1, 1 ")
    Path("splits.npz").write_bytes(content)
    refused(bkr("--sample", "splits.npz"), "splits.npz", "numpy.savez")


def test_splits_fix_the_samples(bkr: Any) -> None:
    np.savez("splits.npz", S=[np.arange(40)], T=[np.arange(40, 80)])
    for more in (["--seeds", "2"], ["--seed", "3"]):
        refused(bkr("--sample", "splits.npz", *more), "fixes samples", more[0])


def test_missing_options_and_words(xlingual: Any) -> None:
    refused(
        xlingual("evaluate", "bkr", "s", "--image-encoder", "img.npy"),
        "'--text-encoder' or '--run'",
        "--help",
    )
    refused(xlingual("evaluate", "bkr", "s", "--text-encoder", GOOD), "'--image-encoder'", "pixels", "--help")
    refused(xlingual("evaluate", "bkr"), "'MANIFEST'")
    refused(xlingual("evaluate", "bkrr", "s"), "'bkrr'", "Did you mean 'bkr'?")
    refused(xlingual("evalute"), "'evalute'", "Did you mean 'evaluate'?")
    refused(xlingual("data", "chekc"), "'chekc'", "Did you mean 'check'?")
    refused(xlingual("data", "check", "s", "v"), "unexpected argument 'v'", "one manifest")
    refused(xlingual("report", "--out", "r.html"), "DIR")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--n", "0"], ["'--n'", "at least 1"]),
        (["--n", "3", "--languages", "en,xx"], ["'xx'", "en"]),
        (["--n", "3", "--languages", ","], ["no language", "en"]),
        (["--n", "3", "--languages", "en,en"], ["'en'", "twice"]),
        (["--n", "3", "--train", "2"], ["train", "2"]),
        ([], ["'--n'"]),
    ],
)
def test_scenes(xlingual: Any, arguments: list[str], words: list[str]) -> None:
    refused(xlingual("data", "scenes", *arguments, "--out", "out"), *words)
