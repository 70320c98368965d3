"""The page of a case study of MLMME: its verdict in words, its tables in every medium, and its file."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace
from rich.console import Console

from xlingual.errors import InputError
from xlingual.report import as_html, page_of
from xlingual.report.render import terminal, text
from xlingual.results import Interval
from xlingual.results.comparison import BETTER, NO_DIFFERENCE, WORSE
from xlingual.results.mlmme_study import (
    MEAN_RECALL,
    MLMME,
    TO_IMAGE,
    TO_SENTENCE,
    VSE,
    MlmmeStudy,
    Question,
    Ranking,
    RankingRow,
    Reranking,
    Similarity,
    StsRow,
    StudyModel,
    Trained,
)
from xlingual.results.runs import Compared, Gain, OfRuns
from xlingual.results.schemas import schema_of

HOSTILE = "<b>sts</b> & 'co'"
MEASURES = ("Success@1", "Success@5", "Success@10", MEAN_RECALL, "MedR/floor")
NAMES = {"VSE en": ("en",), "VSE de": ("de",), "MLMME β=1": ("en", "de"), "MLMME β=0.5": ("en", "de")}


def ci(value: float, half: float) -> Interval:
    return Interval(value - half, value + half, 0.95, "t, 2-way clusters and 2 trainings")


def gain(value: float, p: float = 0.001, half: float = 0.01) -> Gain:
    return Gain(value, ci(value, half), p, min(4 * p, 1.0))


def score(value: float, over: Gain | None = None, median: bool = False) -> OfRuns:
    interval = None if median else ci(value, 0.02)
    return OfRuns(value, [value - 0.01, value + 0.01], 0.014, interval, over)


def ranking(outcome: str = BETTER) -> Ranking:
    rows, questions = [], []
    for language in ("en", "de"):
        for direction in (TO_IMAGE, TO_SENTENCE):
            for i, measure in enumerate(MEASURES):
                median = measure.startswith("MedR")
                value = 12.0 if median else 0.1 + 0.1 * i
                over = Gain(-3.0, None, None) if median else gain(0.05)
                scores = {f"VSE {language}": score(value, median=median)}
                scores["MLMME β=1"] = score(value - 3 if median else value + 0.05, over, median)
                scores["MLMME β=0.5"] = score(value + 0.01, gain(0.01, 0.4), median)
                rows.append(RankingRow(language, direction, measure, scores))
            for name, one in (("MLMME β=1", outcome), ("MLMME β=0.5", NO_DIFFERENCE)):
                value = -0.05 if one == WORSE else 0.05
                questions.append(Question(name, f"VSE {language}", language, direction, gain(value), one))
    of_beta = [Question("MLMME β=0.5", "MLMME β=1", "en", TO_IMAGE, gain(-0.04), WORSE)]
    return Ranking(514, {"en": 2570, "de": 2570}, rows, questions, of_beta)


def study(**changes: Any) -> MlmmeStudy:
    models = [
        StudyModel(
            name, VSE if len(languages) == 1 else MLMME, list(languages), 0.5 if "0.5" in name else 1.0,
            [Trained(f"{name[:3].lower()}-{i}", i, 10, 7, 301.5 + i, 12.5) for i in range(2)],
        )
        for name, languages in NAMES.items()
    ]  # fmt: skip
    scores = {
        "VSE en": score(0.685),
        "MLMME β=1": score(0.69, gain(0.005, 0.5)),
        "MLMME β=0.5": score(0.73, gain(0.045)),
    }
    scores["tfidf"] = OfRuns(0.701, [0.701], None, ci(0.701, 0.04), gain(0.016, 0.3))
    systems = [
        Compared(
            "first translation", ["MT"], {"BLEU": OfRuns(33.3, [33.3]), "TER": OfRuns(44.9, [44.9])},
        ),
        Compared(
            "MLMME β=1", ["m-0", "m-1"],
            {"BLEU": score(33.9, gain(0.6, half=0.3)), "TER": score(44.0, gain(-0.9, half=0.4))},
        ),
    ]  # fmt: skip
    fields: dict[str, Any] = {
        "languages": ["en", "de"],
        "recipe": "paper",
        "image_encoder": "vgg",
        "n_trained_on": 29000,
        "n_trainings": 2,
        "models": models,
        "chosen": "MLMME β=1",
        "ranking": ranking(),
        "sts": Similarity("en", "VSE en", ["tfidf"], [StsRow(HOSTILE, 750, scores)]),
        "reranking": Reranking(
            "en", "de", 1000, {"MLMME β=1": ["sentence"]}, ["the system's score"], systems,
            {"oracle": 47.4, "random choice": 29.1}, {"BLEU": "nrefs:1", "TER": "nrefs:1"},
        ),
        "notes": ["Table 3 lacks VSE de: no images"],
        "timings": {"train": 12.0},
    }  # fmt: skip
    return MlmmeStudy(**(fields | changes))


def against_chance(*above: str) -> MlmmeStudy:
    found = ranking(NO_DIFFERENCE)
    rows = [replace(row, chance=10.0 if row.measure.startswith("MedR") else 0.027) for row in found.rows]
    asked = [
        Question(name, "chance", "en", TO_IMAGE, gain(0.01), BETTER if name in above else NO_DIFFERENCE)
        for name in NAMES
    ]
    return study(ranking=replace(found, rows=rows, of_chance=asked))


def test_the_table_has_chance_beside_the_models() -> None:
    lines = shown(against_chance(), 140).splitlines()
    row = next(line for line in lines if line.strip().startswith("R@10"))
    assert row.split()[-1] == "2.7"
    assert "chance" not in shown(study(), 140)


def shown(found: MlmmeStudy, width: int) -> str:
    out = StringIO()
    terminal.show(Console(file=out, width=width, force_terminal=False), page_of(found))
    return out.getvalue()


def test_a_table_as_the_paper_has_it() -> None:
    lines = shown(study(), 140).splitlines()
    row = next(line for line in lines if line.strip().startswith("R@1 "))
    assert row.split() == ["R@1", "10.0", "15.0*", "(+5.0)", "11.0", "(+1.0)"]
    rank = next(line for line in lines if line.strip().startswith("MedR"))
    assert rank.split()[:4] == ["MedR", "12.0", "9.0*", "(−3.0)"]


def test_a_difference_is_marked_by_its_corrected_p_and_in_every_medium() -> None:
    found = ranking(BETTER)
    asked = [
        replace(one, gain=gain(0.05, 0.02 if one.model == "MLMME β=0.5" else 0.01))  # 4 times that, corrected
        for one in found.questions
    ]
    one = study(ranking=replace(found, questions=asked))
    mean = next(line for line in shown(one, 140).splitlines() if line.strip().startswith("mean recall"))
    assert mean.split() == ["mean", "recall", "40.0", "45.0*", "(+5.0)†", "41.0", "(+1.0)"]
    page = as_html(one)
    assert page.count("(+5.0)†") == 4 and "(+1.0)†" not in page
    assert (
        "0.730*" in page and "+0.045†" in page and "33.90*" in page
    )  # what the notes of Tables 2, 3 explain
    note = "† in mean recall: p below 0.05, corrected for 8 differences (Holm)"
    assert note in page and "excludes 0" not in page
    for form in ("markdown", "latex"):
        assert "excludes 0" not in text.as_text(page_of(one), form)


def test_all_that_are_shown_alike_are_best() -> None:
    def row(*values: float) -> RankingRow:
        scores = dict(zip(("VSE en", "MLMME β=1", "MLMME β=0.5"), map(score, values), strict=True))
        return RankingRow("en", TO_IMAGE, "Success@1", scores)

    for values, words in (
        ((0.0151, 0.0140, 0.0153), ["1.5*", "1.4", "1.5*"]),
        ((0.0151, 0.0152, 0.0153), ["1.5", "1.5", "1.5"]),
    ):
        one = study(ranking=replace(ranking(), rows=[row(*values)]), languages=["en"])
        line = next(line for line in shown(one, 140).splitlines() if line.strip().startswith("R@1 "))
        assert line.split()[1:] == words


@pytest.mark.parametrize("form", ["markdown", "latex", "csv"])
def test_texts_have_all_tables(form: str) -> None:
    found = text.as_text(page_of(study()), form)
    for words in ("15.0", "Re-ranking" if form != "csv" else "re-ranking", "33.9"):
        assert words in found


def test_the_page_escapes_names() -> None:
    found = as_html(study())
    assert "<b>sts</b>" not in found and "&lt;b&gt;sts&lt;/b&gt;" in found
    for words in ("Table 1", "Table 2", "Table 3", "Verdict", "Table 3 lacks VSE de"):
        assert words in found
    assert re.search(r"METEOR 1.5", found)


@pytest.mark.parametrize("missing", ["ranking", "sts", "reranking"])
def test_a_study_may_lack_a_table(missing: str) -> None:
    found = study(**{missing: None})
    title = {"ranking": "Table 1", "sts": "Table 2", "reranking": "Table 3:"}[missing]
    assert f"<h2>{title}" not in as_html(found) and shown(found, 100)


def test_its_file_is_read_back_and_follows_the_schema(tmp_path: Path) -> None:
    found = study()
    found.write(tmp_path)
    assert MlmmeStudy.read(tmp_path) == found
    content = json.loads((tmp_path / "mlmme_study.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema_of("mlmme_study")).validate(content)
    replace(found, chosen="nobody").write(tmp_path)
    with pytest.raises(InputError, match="'nobody' is not among 'models'"):
        MlmmeStudy.read(tmp_path)
