import re
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.errors import InputError
from xlingual.report import as_html, examples, leaderboard, write_report
from xlingual.results import Results
from xlingual.tasks import task_of

TASK = "backretrieval"
ALL = ("backretrieval", "crosslingual-retrieval", "distance-correlation")
parsed = SimpleNamespace(**run_path(str(Path(__file__).with_name("balanced.py")))).parsed


SHAPES = {
    "1 encoder, 1 pair": lambda made: [made.synthetic(1, [], pairs=[("en", "ar")])],
    "24 encoders, 2 pairs": lambda made: [made.synthetic(24, ["de", "he"], each=1)],
    "5 encoders, 20 pairs, 3 tasks": lambda made: [
        made.synthetic(5, ["ar", "de", "en", "he", "ja"], ALL, each=1)
    ],
    "2 runs": lambda made: [made.synthetic(3, ["en", "ja"], with_examples=False) for _ in range(2)],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.cases(2)
def test_pages_are_well_formed_self_contained_and_repeatable(made, shape):
    results = SHAPES[shape](made)
    html = as_html(results)
    found = parsed(html)
    names = {tag for tag, _ in found.tags}
    assert not names & {"script", "link", "iframe", "object", "base", "form"}
    for tag, attributes in found.tags:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "xlink:href", "srcset", "data"):
            assert attributes.get(name, "data:").startswith("data:"), (tag, attributes)
    assert "url(" not in html and "@import" not in html
    assert not re.search(r"\b(nan|NaN|None|inf)\b", " ".join(found.texts))
    assert html == as_html(results)
    assert len(html) < 3_000_000


def test_content_security_policy_comes_before_any_style(made):
    html = as_html([made.synthetic(1, ["en", "de"])])
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert policy in html[: html.index("<style>")]


def test_hostile_words_are_shown_and_never_run(made):
    bad = made.hostile
    results = made.results(
        [made.entry(TASK, "en", "de", bad, "R@10", 0.3, signature=f"data:{bad}|system:|encoder:{bad}")],
        [made.summary(TASK, bad, "R@10", 0.3), made.summary(TASK, "x", "R@10", None, note=bad)],
        examples=made.examples(
            [made.example(bad, "en", "de", "best", 0, query_text=bad, retrieved_text=bad)]
        ),
        warnings=[bad],
        timings={bad: 1.0},
    )
    html = as_html([results], title=bad)
    found = parsed(html)
    assert "<script" not in html and "<img src=x" not in html
    assert "script" not in {tag for tag, _ in found.tags}
    assert sum(bad in text for text in found.texts) >= 8
    assert not any("onerror" in attributes for _, attributes in found.tags)


def test_every_example_text_has_its_language_and_finds_its_direction(made):
    html = as_html([made.synthetic(1, [], pairs=[("en", "ar")], each=2)])
    texts = [attributes for _, attributes in parsed(html).tags if attributes.get("class") == "text"]
    assert len(texts) == 8
    assert {(text["lang"], text["dir"]) for text in texts} == {("en", "auto"), ("ar", "auto")}


def test_bars_are_drawn_where_the_numbers_are(made):
    rows = [made.summary(TASK, "e", "R@10", 0.4, chance=0.1, oracle=0.8)]
    tags = parsed(as_html([made.results([], rows)])).tags
    (band,) = [at for tag, at in tags if tag == "rect" and at["class"] == "ci" and "%" in at["x"]]
    assert (band["x"], band["width"]) == ("46.25%", "7.5%")
    (dot,) = [at for tag, at in tags if tag == "circle" and at["class"] == "dot" and "%" in at["cx"]]
    assert dot["cx"] == "50.0%"
    marks = {
        at["class"]: at["x1"] for tag, at in tags if tag == "line" and at["class"] in ("chance", "oracle")
    }
    drawn = [at["x1"] for tag, at in tags if tag == "line" and at["class"] == "chance" and "%" in at["x1"]]
    assert drawn == ["12.5%"] and set(marks) == {"chance", "oracle"}


@pytest.mark.parametrize(
    "content", [None, b"", b"<svg onload=alert(1)>", b"GIF89a", b"\x89PNG but not", b"\xff\xd8"]
)
def test_only_png_and_jpeg_become_images(content):
    assert examples.data_uri(content) is None


def test_images_and_placeholders(made):
    record = made.example("e", "en", "de", "worst", 0, retrieved_picture=b"<svg/>")
    results = made.results([], [made.summary(TASK, "e", "R@10", 0.3)], examples=made.examples([record]))
    tags = parsed(as_html([results])).tags
    sample, image = [at for tag, at in tags if tag == "img"]
    assert sample["src"] == image["src"]
    assert image["src"].startswith("data:image/jpeg;base64,/9j/")
    assert sum(at.get("class") == "no-image" for _, at in tags) == 1
    assert examples.data_uri(made.image(1)).startswith("data:image/png;base64,iVBORw0KGgo")


def test_images_of_examples_fit_into_a_budget_of_bytes(made):
    image = made.image(1)
    records = [
        made.example(f"e{i}", "en", "de", "best", place, query_picture=image, retrieved_picture=None)
        for i in range(5)
        for place in range(7)
    ]
    summaries = [made.summary(TASK, f"e{i}", "R@10", 0.5 - i / 10) for i in range(5)]
    results = made.results([], summaries, examples=made.examples(records))
    for budget, count in ((100, 15), (7, 7), (0, 0)):
        rows = leaderboard(results, TASK, "R@10")
        (_, pair), used = examples.chosen([results], task_of(TASK), rows, budget * len(image), {})
        _, cards, *others = pair.blocks
        shown = [cards, *(fold.blocks[0] for fold in others)]
        assert used == count * len(image) and len(shown) == 3
        assert [len(found) for each in shown for _, found in each.groups] == [5, 5, 5]
        with_image = [
            card for each in shown for _, found in each.groups for card in found if card.first.image
        ]
        assert len(with_image) == count


def test_examples_come_from_the_first_seed_in_order(made):
    records = [
        made.example("e", "en", "de", "best", p, seed=s, above=10 * s + p) for s in (4, 3) for p in (1, 0)
    ]
    results = made.results([], [made.summary(TASK, "e", "R@10", 0.3)], examples=made.examples(records))
    html = as_html([results])
    assert re.findall(r"ranked (\d+) of", html) == ["31", "32"]


def test_written_file_is_whole_or_untouched(made, tmp_path, monkeypatch):
    path = tmp_path / "new" / "report.html"
    results = made.synthetic(2, ["en", "he"])
    write_report([results], path, title="Erste Prüfung")
    first = path.read_bytes()
    write_report([results], path, title="Erste Prüfung")
    assert path.read_bytes() == first

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(InputError, match=r"report\.html cannot be written \(disk full, so .*: make room"):
        write_report([results], path)
    assert path.read_bytes() == first
    assert [entry.name for entry in path.parent.iterdir()] == ["report.html"]


def test_report_from_files_equals_report_from_memory(made, tmp_path):
    results = made.synthetic(3, ["en", "he"], ALL)
    results.write(tmp_path)
    assert as_html([Results.read(tmp_path)]) == as_html([results])


def test_importing_the_report_loads_no_heavy_package():
    code = "import sys, xlingual.report; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"jinja2", "pyarrow", "numpy", "pandas", "PIL"} & set(loaded)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("xlingual.")}
    floor = {
        "arrow",
        "errors",
        "extras",
        "files",
        "hidden",
        "languages",
        "notebook",
        "permission",
        "results",
        "signature",
        "tasks",
    }
    assert rooms == floor | {"report", "typed", "visible"}


def test_the_function_that_gives_html_is_not_hidden_by_a_package():
    code = "import xlingual.report.render.html, xlingual.report as r; assert callable(r.as_html)"
    subprocess.run([sys.executable, "-c", code], check=True)
