"""`xlingual study new`, `sheets` and `collect`, as a person would use them, and what they refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from xlingual.cli.main import run
from xlingual.study.folder import read_key, read_study

SYSTEMS = ("--system", "v/good.{lang}.npy", "--system", "bad=v/bad.{lang}.npy")
NEW = ("s", "--source", "en", "--target", "de", *SYSTEMS)
FEW = ("--queries", "6", "--per-system", "3", "--out", "STUDY")


@pytest.fixture(scope="module")
def new(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(shutil.copytree(prepared, folder, dirs_exist_ok=True))
        assert run(["study", "new", *NEW, *FEW, "--repeats", "0.3", "--controls", "0.5"]) == 0
    return folder / "STUDY"


@pytest.fixture
def study(work: Path, new: Path) -> Path:
    return shutil.copytree(new, work / "STUDY")


def test_a_new_study(work: Path, xlingual: Any) -> None:
    outcome = xlingual(
        "study", "new", *NEW, *FEW, "--image-encoder", "img.npy", "--raters", "2", "--by", "colour"
    )
    if outcome.code:  # the scenes have no such column: the error says which there are
        outcome = xlingual("study", "new", *NEW, *FEW, "--image-encoder", "img.npy", "--raters", "2")
    assert (outcome.code, outcome.warnings) == (0, []) and "wrote STUDY" in outcome.err
    made = read_study("STUDY")
    key = read_key("STUDY", made)
    assert set(key.systems) == {"good", "bad"} and set(key.bkr) == {"good", "bad"}
    for words in ("edit STUDY/title.md", "xlingual study sheets STUDY", "xlingual study analyse STUDY"):
        assert words in outcome.out


def test_a_study_is_never_written_over(study: Path, xlingual: Any) -> None:
    before = (study / "study.json").read_bytes()
    xlingual("study", "new", *NEW, *FEW)
    assert before == (study / "study.json").read_bytes()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--queries", "200"), "--queries 200: "),
        (("--queries", "0"), "--queries must be at least 1, got 0"),
        (("--per-system", "1000"), "only 120 different texts can be suggested"),
        (("--target", "fr"), "no texts in 'fr'"),
        (("--target", "en"), "both 'en'"),
        (("--system", "again=v/bad.{lang}.npy"), "suggest the same texts for every query"),
        (("--system", "bad=v/good.{lang}.npy"), "two encoders or runs are named 'bad'"),
        (("--system", "v/none.{lang}.npy"), "none.en.npy"),
        (("--by", "nothing"), "--by nothing: no column"),
        (("--repeats", "2"), "found '2': give a number of at least 0 and at most 1"),
        (("--raters", "0"), "--raters must be at least 1"),
        (("extra",), "unexpected argument 'extra'"),
    ],
)
def test_bad_input_is_one_line(work: Path, xlingual: Any, more: tuple[str, ...], words: str) -> None:
    outcome = xlingual("study", "new", *NEW, *FEW, instead=more)
    assert outcome.code == 2 and words in outcome.err and outcome.err.count("\n") == 1, outcome.err
    assert not (work / "STUDY").exists()


def test_a_missing_image(work: Path, xlingual: Any) -> None:
    with (work / "own.csv").open("w") as file:
        file.write("id,lang,text,image\n")
        file.writelines(f"{tag}{i},{tag},{tag} text {i},{i}.png\n" for tag in ("en", "de") for i in range(9))
    given = ("own.csv", "--source", "en", "--target", "de", "--system", "random", "--system", "chargram")
    xlingual("study", "new", *given, *FEW)
    assert not (work / "STUDY").exists()
    assert xlingual("study", "new", *given, *FEW, "--no-images").code == 0


def test_sheets_are_written_and_answers_collected(study: Path, xlingual: Any) -> None:
    outcome = xlingual("study", "sheets", "STUDY")
    assert outcome.code == 0 and outcome.err.count("wrote STUDY/sheets/sheet-") == 3, outcome.err
    before = (study / "sheets/sheet-2.html").read_bytes()
    assert xlingual("study", "sheets", "STUDY", "--raters", "4", "--out", "more").code == 0
    assert Path("more/sheet-2.html").read_bytes() == before and Path("more/sheet-4.html").is_file()
    made = read_study(study)
    page = made.order_of(4)[0]
    rows = [
        {"rater": "4", "query": page.query, "suggestion": one, "occasion": 0, "score": 2}
        | {"at": "2026-01-01T00:00:00Z", "seconds": None}
        for one in page.suggestions
    ]
    Path("a.json").write_text(
        json.dumps({"schema": "xlingual/study_answers/1", "study": made.id, "ratings": rows})
    )
    outcome = xlingual("study", "collect", "STUDY", "a.json", "--json")
    (row,) = json.loads(outcome.out)["raters"]
    assert (row["rater"], row["given"], row["new"], row["changed"]) == ("4", len(rows), len(rows), 0)
    assert (
        f"{len(rows)} of {row['asked']} answers, 0 new" in xlingual("study", "collect", "STUDY", "a.json").out
    )
    (study / "secret/key.json").unlink()
    assert xlingual("study", "sheets", "STUDY").code == 0  # needs no key


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sheets", "s"), "study.json is missing"),
        (("sheets", "STUDY", "--raters", "0"), "raters"),
        (("collect", "STUDY", "none.json"), "none.json is missing"),
        (("collect", "STUDY"), "Missing argument"),
    ],
)
def test_what_sheets_and_collect_refuse(
    study: Path, xlingual: Any, arguments: tuple[str, ...], words: str
) -> None:
    outcome = xlingual("study", *arguments)
    assert outcome.code == 2 and words in outcome.err and outcome.err.count("\n") == 1, outcome.err
