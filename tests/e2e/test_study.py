"""`xlingual study new`, `export` and `import`, as a person would use them, and what they refuse."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from xlingual.study.database import Ratings

from xlingual.cli.main import run
from xlingual.study.folder import read_key, read_study
from xlingual.study.records import Rating

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


def rate_all(folder: Path, rater: str) -> list[Rating]:
    """Rate all pages of the first order."""
    rated = [
        Rating(rater, page.query, one, page.occasion, 1 + place % 4, "2026-01-01T00:00:00Z")
        for page in read_study(folder).orders[0]
        for place, one in enumerate(page.suggestions)
    ]
    with Ratings(folder) as ratings:
        ratings.add_all(rated)
    return rated


def rows_of(name: str) -> list[dict[str, str]]:
    with Path(name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_new_study(work: Path, xlingual: Any) -> None:
    outcome = xlingual(
        "study", "new", *NEW, *FEW, "--image-encoder", "img.npy", "--raters", "2", "--by", "colour"
    )
    if outcome.code:  # the scenes have no such column: the error says which there are
        assert "no column of few different values" in outcome.err
        outcome = xlingual("study", "new", *NEW, *FEW, "--image-encoder", "img.npy", "--raters", "2")
    assert (outcome.code, outcome.warnings) == (0, []) and "wrote STUDY" in outcome.err
    made = read_study("STUDY")
    key = read_key("STUDY", made)
    assert set(key.systems) == {"good", "bad"} and set(key.bkr) == {"good", "bad"}
    links = [line.split() for line in outcome.out.splitlines() if "http://127.0.0.1:8080/" in line]
    assert [who for who, _ in links] == ["organiser", "1", "2"]
    assert len({address for _, address in links}) == 3
    for words in ("edit STUDY/title.md", "xlingual study serve STUDY", "xlingual study analyse STUDY"):
        assert words in outcome.out


def test_quiet_prints_nothing(work: Path, xlingual: Any) -> None:
    outcome = xlingual("study", "new", *NEW, *FEW, "--quiet", "--no-images", "--exclude-own")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_a_study_is_never_written_over(study: Path, xlingual: Any) -> None:
    before = (study / "study.json").read_bytes(), (study / "links.csv").read_bytes()
    outcome = xlingual("study", "new", *NEW, *FEW)
    assert outcome.code == 2 and "STUDY holds a study already (study.json)" in outcome.err
    assert before == ((study / "study.json").read_bytes(), (study / "links.csv").read_bytes())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--queries", "200"), "--queries 200: "),
        (("--queries", "0"), "--queries must be at least 1, got 0"),
        (("--per-system", "1000"), "only 120 different texts can be suggested"),
        (("--target", "fr"), "no texts in 'fr'"),
        (("--target", "en"), "both 'en'"),
        (("--system", "again=v/bad.{lang}.npy"), "suggest the same texts for every query"),
        (("--system", "bad=v/good.{lang}.npy"), "two encoders are named 'bad'"),
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
    outcome = xlingual("study", "new", *given, *FEW)
    assert (
        outcome.code == 2
        and "images of the study are missing" in outcome.err
        and "--no-images" in outcome.err
    )
    assert not (work / "STUDY").exists()
    assert xlingual("study", "new", *given, *FEW, "--no-images").code == 0


def test_ratings_go_out_and_come_back(study: Path, xlingual: Any, tmp_path: Path) -> None:
    rated = rate_all(study, "1")
    for name in ("r.csv", "r.parquet"):
        outcome = xlingual("study", "export", "STUDY", "--out", name)
        assert outcome.code == 0 and outcome.out == f"{len(rated)} ratings, raters: 1\n", outcome.err
        again = xlingual("study", "import", "STUDY", name)
        assert (again.code, again.out) == (0, f"{name}: 0 new, {len(rated)} known already\n")
    rows = rows_of("r.csv")
    assert [int(row["score"]) for row in rows].count(1) == sum(one.score == 1 for one in rated)
    assert "systems" not in rows[0]
    text = Path("r.csv").read_text()
    Path("r.csv").write_text(text.replace(",1,2026", ",3,2026", 1).replace("\n1,", "\nzoe,"))
    outcome = xlingual("study", "import", "STUDY", "r.csv")
    assert outcome.out == f"r.csv: {len(rated)} new, 0 known already, new raters: zoe\n"
    Path("r.csv").write_text(text.replace("\n1,", "\nzoe,"))
    assert xlingual("study", "import", "STUDY", "r.csv").code == 2
    settled = xlingual("study", "import", "STUDY", "r.csv", "--prefer", "file")
    assert settled.out == f"r.csv: 0 new, {len(rated) - 1} known already, 1 replaced\n"


def test_the_key_goes_out_only_where_it_is_asked_for_and_whole(study: Path, xlingual: Any) -> None:
    rate_all(study, "1")
    assert xlingual("study", "export", "STUDY", "--out", "open.csv", "--with-key", "--quiet").code == 0
    rows = rows_of("open.csv")
    assert {name for row in rows for name in row["systems"].split(";")} <= {"good", "bad", ""}
    path = study / "secret/key.json"
    path.write_text(path.read_text().replace('"good"', '"best"'))
    outcome = xlingual("study", "export", "STUDY", "--out", "again.csv", "--with-key")
    assert outcome.code == 2 and "was changed since the study was made" in outcome.err
    assert not Path("again.csv").exists()
    assert xlingual("study", "export", "STUDY", "--out", "again.csv").code == 0  # needs no key


def test_a_sheet(study: Path, xlingual: Any) -> None:
    outcome = xlingual("study", "export", "STUDY", "--sheet", "ann.html", "--rater", "ann")
    assert outcome.code == 0 and "sheet of rater ann (a new rater)" in outcome.out, outcome.err
    again = xlingual("study", "export", "STUDY", "--sheet", "ann.html", "--rater", "ann")
    assert "sheet of rater ann;" in again.out
    with Ratings(study) as ratings:
        assert [rater.name for rater in ratings.raters()] == ["1", "2", "3", "ann"]
    page = read_study(study).orders[3][0]
    rows = [{"query": page.query, "suggestion": one, "occasion": 0, "score": 2} for one in page.suggestions]
    content = {"schema": "xlingual/study_answers/1", "study": read_study(study).id, "rater": "ann"}
    Path("answers-ann.json").write_text(json.dumps(content | {"ratings": rows}))
    outcome = xlingual("study", "import", "STUDY", "answers-ann.json")
    assert outcome.out == f"answers-ann.json: {len(rows)} new, 0 known already\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", "STUDY"), "say what to write"),
        (("export", "STUDY", "--out", "r.csv", "--sheet", "s.html"), "say what to write"),
        (("export", "STUDY", "--sheet", "s.html"), "--sheet needs --rater NAME"),
        (("export", "STUDY", "--sheet", "s.txt", "--rater", "1"), "must end in .html"),
        (("export", "STUDY", "--out", "r.csv", "--rater", "1"), "--rater belongs to --sheet"),
        (("export", "STUDY", "--out", "r.xls"), "must end in .csv or .parquet"),
        (("export", "s", "--out", "r.csv"), "study.json is missing"),
        (("import", "STUDY", "none.csv"), "none.csv cannot be read"),
        (("import", "STUDY"), "Missing argument"),
        (("import", "s", "none.csv"), "study.json is missing"),
    ],
)
def test_what_export_and_import_refuse(
    study: Path, xlingual: Any, arguments: tuple[str, ...], words: str
) -> None:
    outcome = xlingual("study", *arguments)
    assert outcome.code == 2 and words in outcome.err and outcome.err.count("\n") == 1, outcome.err


def test_of_several_files_that_differ_none_is_imported(study: Path, xlingual: Any) -> None:
    rated = rate_all(study, "1")
    assert xlingual("study", "export", "STUDY", "--out", "one.csv", "--quiet").code == 0
    text = Path("one.csv").read_text().replace("\n1,", "\nzoe,")
    Path("one.csv").write_text(text)
    Path("two.csv").write_text(text.replace(",1,2026", ",3,2026", 1))
    outcome = xlingual("study", "import", "STUDY", "one.csv", "two.csv")
    assert (
        outcome.code == 2 and outcome.err.startswith("error: two.csv: 1 of") and outcome.err.count("\n") == 1
    )
    with Ratings(study) as ratings:
        assert len(ratings.all()) == len(rated) and "zoe" not in ratings.counts()
