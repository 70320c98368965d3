import re
from io import StringIO

import pytest
from click.testing import CliRunner
from msgspec import structs
from msgspec.structs import replace
from rich.console import Console

from xlingual.cli.report import report
from xlingual.errors import InputError
from xlingual.report import write_validation_report
from xlingual.report.validation import figures, labels, page, show, tables, verdict, wording
from xlingual.results.validation import PairValidation, Subset

SHAPES = {
    "full": lambda made: made.full(),
    "bare": lambda made: made.bare(),
    "no pairs": lambda made: replace(made.bare(), pairs=[]),
}


def shown(validation, width):
    text = StringIO()
    show(Console(file=text, width=width, highlight=False), validation)
    return text.getvalue()


def with_subsets(pair, subsets, **changes):
    """Return a pair with other agreement, of all encoders and of parts of them."""
    own = {
        name: value for name, value in structs.asdict(pair).items() if name not in Subset.__struct_fields__
    }
    del own["parts"]
    return PairValidation.of(subsets, **own | changes)


def changed(validation, **subset_changes):
    first = validation.pairs[0]
    subsets = {**first.subsets, "all": replace(first.subsets["all"], **subset_changes)}
    return replace(validation, pairs=[with_subsets(first, subsets)], directions=[])


def test_verdict_says_what_the_intervals_say_most_important_first(made):
    found = verdict(made.full())
    assert found[0].startswith(
        "en → he: BkR tracks true retrieval (XLR) closely over 6 encoders of 5 families: "
        "Pearson 0.961 [0.931, 0.991] and Spearman 0.950 [0.920, 0.980]"
    )
    text = "\n".join(found)
    assert "better than CORR does: Pearson difference 0.248 [0.098, 0.398], p = 0.0021" in text
    assert "cannot be told apart from SIM: Pearson difference 0.019 [−0.031, 0.069], p = 0.437" in text
    assert "orders two encoders as XLR does in 94 % [60 %, 99 %] of 255 pairs; SIM in 92 %" in text
    assert "Among weak encoders (XLR below 0.5: 3) cannot tell whether BkR agrees" in text
    assert (
        "Among strong encoders (XLR 0.5 or more: 3) BkR agrees with XLR, how closely is uncertain: P" in text
    )
    assert (
        "above 0.8 down to 82 % of the nearest pictures kept (noise 0.5: Pearson 0.940 [0.840, 1.000])"
        in text
    )
    assert "no longer with 41 % of the nearest pictures kept (4 dimensions: Pearson 0.770" in text
    assert "With shuffled pictures no agreement is left" in text
    assert "en → he and he → en cannot be told apart: Pearson difference 0.004" in text
    assert "Monte Carlo error only" in text


@pytest.mark.parametrize(
    ("value", "half", "p", "said"),
    [
        (0.2, 0.1, 0.01, "It agrees with XLR better than CORR does"),
        (-0.2, 0.1, 0.01, "It agrees with XLR less than CORR does"),
        (0.2, 0.3, 0.01, "It cannot be told apart from CORR"),
        (0.2, 0.1, 0.08, "It cannot be told apart from CORR"),
    ],
)
def test_a_difference_is_told_only_where_interval_and_test_agree(made, value, half, p, said):
    both = {kind: made.difference(value, half, p) for kind in made.COEFFICIENTS}
    found = changed(made.full(), differences={"BkR-CORR": both, "BkR-SIM": both})
    assert any(sentence.startswith(said) for sentence in verdict(found))


def test_agreement_with_xlr_at_1_is_shown_beside_that_at_k(made):
    first = made.full().pairs[0]
    own = {kind: made.agreement(0.834, 0.1) for kind in made.COEFFICIENTS}
    found = dict.fromkeys(made.MEASURES, own)
    whole = replace(first.subsets["all"], agreement_at_1=found)
    rows = [
        replace(row, xlr_at_1=made.SeedScores(0.4321, 0.01, [0.4321] * 3, None)) for row in first.encoders
    ]
    pair = with_subsets(first, {**first.subsets, "all": whole}, encoders=rows)
    validation = replace(made.full(), pairs=[pair], directions=[], measure_at_1="R@1")
    (sentence,) = (one for one in verdict(validation) if "XLR R@1" in one)
    assert sentence.startswith(
        "With XLR R@1 in place of R@10 it is Pearson 0.834 [0.734, 0.934] and Spearman"
    )
    assert "SIM 0.834 and 0.834" in sentence
    titles = {table.title: table for table in tables.all_of(validation, pair)}
    assert len(titles["Agreement with XLR R@1 over encoders"].rows) == 6
    encoders = titles["Encoders: mean ± standard deviation over seeds"]
    assert all(row[encoders.head.index("XLR R@1")].startswith("0.432") for row in encoders.rows)
    assert "Agreement with XLR R@1 over encoders" in page.render(validation)
    assert not any("R@1 over" in table.title for table in tables.all_of(made.full(), made.full().pairs[0]))


def test_weak_and_strong_encoders_are_graded_as_all_are(made):
    first = made.full().pairs[0]
    grades = {0.95: "agrees with XLR closely:", 0.6: "how closely is uncertain:", 0.2: "cannot tell whether"}
    for value, said in grades.items():
        own = {
            "BkR": {kind: made.agreement(value, 0.3 if value < 0.9 else 0.05) for kind in made.COEFFICIENTS}
        }
        subsets = {**first.subsets, "below": replace(first.subsets["below"], agreement=own)}
        found = replace(made.full(), pairs=[with_subsets(first, subsets)], directions=[])
        (sentence,) = (one for one in verdict(found) if one.startswith("Among weak encoders"))
        assert said in sentence


def test_seeds_are_left_out_where_agreement_cannot_be_told(made):
    own = {
        name: {kind: replace(made.agreement(0.9), ci=None, note=made.WHY) for kind in made.COEFFICIENTS}
        for name in made.MEASURES
    }
    found = "\n".join(verdict(changed(made.full(), agreement=own)))
    assert f"cannot be told (Pearson 0.900 and Spearman 0.900): {made.WHY}." in found
    assert "Seed by seed" not in found and "Monte Carlo" not in found


def test_notes_of_whole_columns_and_rows_are_one():
    cells = [(row, column) for row in ("a", "b", "c") for column in ("XLR", "BkR", "CORR")]

    def noted(**notes):
        return wording.gathered((cell, notes.get("_".join(cell), notes.get(cell[1]))) for cell in cells)

    seed = "one seed: no spread over seeds"
    assert noted(XLR=seed, BkR=seed, CORR=seed) == [f"All: {seed}"]
    assert noted(XLR=seed, BkR=seed) == [f"XLR and BkR: {seed}"]
    assert noted(a_XLR="no", a_BkR="no", a_CORR="no", c_BkR="no") == ["a and c BkR: no"]
    drawn = {f"{name}_CORR": f"from 4 of 9 pairs, standard error 0.000{i}" for i, name in enumerate("abc", 4)}
    assert noted(XLR=seed, BkR=seed, **drawn) == [
        f"XLR and BkR: {seed}",
        "CORR: from 4 of 9 pairs, standard error 0.0004 to 0.0006",
    ]


def test_notes_of_subsets_name_as_few_cells_as_can_be(made):
    first = made.full().pairs[0]
    corr = {"CORR": {kind: replace(made.agreement(0.5), note="without x") for kind in made.COEFFICIENTS}}
    whole = first.subsets["all"]
    order = {**whole.accuracy, "CORR": replace(whole.accuracy["CORR"], note="without x")}
    subsets = {
        **first.subsets,
        "all": replace(whole, agreement={**whole.agreement, **corr}, accuracy=order),
        "above": made.missing_subset(2),
    }
    notes = tables.subsets(with_subsets(first, subsets), 0.5).notes
    assert notes == ["all (6) CORR: without x", f"from 0.5 (2): {made.WHY}"]


def test_one_seed_is_noted_once(made):
    pair = made.pair(n_seeds=1)
    rows = [
        replace(
            row,
            **{
                name: replace(getattr(row, name), note="one seed: no spread over seeds")
                for name in ("xlr", "bkr", "sim", "corr")
            },
        )
        for row in pair.encoders
    ]
    assert tables.encoders(replace(pair, encoders=rows), None).notes == [
        "All: one seed: no spread over seeds"
    ]
    assert "0.000000" not in wording.plus_minus(0.0274, 3.5e-18)


def test_one_coefficient_alone_is_said_to_be_alone(made):
    mixed = {"pearson": made.difference(0.2, 0.1, 0.01), "spearman": made.difference(0.2, 0.3, 0.2)}
    found = changed(made.full(), differences={"BkR-CORR": mixed, "BkR-SIM": mixed})
    assert any("told apart from CORR by Pearson (more) alone" in sentence for sentence in verdict(found))


@pytest.mark.parametrize(
    ("value", "half", "said"),
    [
        (0.9, 0.05, "BkR tracks true retrieval (XLR) closely"),
        (0.5, 0.2, "how closely is uncertain"),
        (0.1, 0.4, "Cannot tell whether BkR tracks"),
        (-0.6, 0.2, "BkR goes against"),
    ],
)
def test_tracking_is_judged_by_the_intervals(made, value, half, said):
    own = {name: {kind: made.agreement(value, half) for kind in made.COEFFICIENTS} for name in made.MEASURES}
    assert said in verdict(changed(made.full(), agreement=own))[0]


def test_missing_numbers_have_their_reason(made):
    found = verdict(made.bare())
    assert found[0] == f"Whether BkR tracks XLR over 3 encoders cannot be told: {made.WHY}."
    assert all("cannot be told" in sentence for sentence in found)


@pytest.mark.parametrize("shape", SHAPES)
def test_pages_are_well_formed_self_contained_and_repeatable(made, shape, tmp_path):
    html = page.render(SHAPES[shape](made))
    found = made.parsed(html)
    assert not {tag for tag, _ in found.tags} & {"script", "link", "iframe", "object", "base", "form", "b"}
    assert "url(" not in html and "@import" not in html and "http" not in html.replace("http-equiv", "")
    spoken = [value for _, attributes in found.tags for value in attributes.values() if value]
    assert not re.search(r"\b(nan|NaN|None|inf)\b", " ".join([*found.texts, *spoken]))
    write_validation_report(SHAPES[shape](made), tmp_path / "new" / "a.html")
    assert (tmp_path / "new" / "a.html").read_bytes() == html.encode()


def test_the_page_holds_every_number_and_name(made):
    validation = made.full()
    found = made.parsed(page.render(validation, title="Mine & yours"))
    texts = {text.strip() for text in found.texts}
    assert {"Mine & yours", "one <i>warning</i>", "1.5 s", "abc123", "0.0274"} <= texts
    for pair in validation.pairs:
        for table in tables.all_of(validation, pair):
            assert {cell for row in table.rows for cell in row if cell} <= texts
    for name in made.NAMES:
        assert name in texts
    assert any("N = 1,500" in text and "0.0067" in text for text in texts)


def test_names_of_any_script_are_isolated_and_points_have_tooltips(made):
    html = page.render(made.full())
    assert "<bdi>אבג</bdi>" in html and "<bdi>&lt;b&gt;&amp;&#34;</bdi>" in html
    found = made.parsed(html)
    for name in made.NAMES:
        panels = sum(f"\u2068{name}\u2069" in text for text in found.texts)
        assert panels == 8  # three, one of them in two sizes, of two pairs
    assert (
        sum(tag == "polyline" for tag, _ in found.tags) == 4
    )  # dims and noise of the first pair, in two sizes


def test_missing_numbers_are_noted_on_the_page(made):
    texts = made.parsed(page.render(made.bare())).texts
    assert any("All: no text has a vector" in text for text in texts)
    assert sum("nothing to draw" in text for text in texts) == 3
    assert any("One seed" in text for text in texts)


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.cases(4)
def test_the_terminal_cuts_nothing(made, width, shape):
    validation = SHAPES[shape](made)
    text = shown(validation, width)
    assert "…" not in text and max(len(line) for line in text.splitlines()) <= width
    words = text.split()
    for pair in validation.pairs:
        for table in tables.all_of(validation, pair):
            kept = table.without("family", "BkR normalised", "test")
            cells = [cell for row in kept.rows for cell in row[kept.n_names :]]
            assert set(" ".join(cells).split()) <= set(words)
    assert ("Williams" in text) == (shape == "full")


def test_families_are_shown_only_where_they_were_asked_for(made):
    validation = made.full()
    assert "family" in tables.encoders(validation.pairs[0], validation.family).head
    assert "family" not in tables.encoders(validation.pairs[0], None).head


def test_encoders_are_sorted_by_true_retrieval(made):
    rows = list(reversed(made.pair().encoders))
    assert [row.encoder for row in tables.by_truth(rows)] == list(made.NAMES)


def test_a_telephone_gets_a_drawing_of_its_own_and_names_without_room_are_listed(made):
    pair = made.full().pairs[0]
    large, narrow = (figures.scatter(pair, "BkR", 0.5, size=size) for size in (figures.LARGE, figures.NARROW))
    assert narrow.frame.width < 360 < large.frame.width
    assert [point.title for point in narrow.points] == [point.title for point in large.points]
    for figure in (large, narrow):
        named = {label.text for label in figure.labels}
        assert len(named) + len(figure.unnamed) == len(pair.encoders)
        assert not named & {labels.shortened(name) for name in figure.unnamed}
    crowd = [replace(pair.encoders[0], encoder=f"twin {i}") for i in range(30)]
    crowded = figures.scatter(replace(pair, encoders=crowd), "BkR", 0.5, size=figures.NARROW)
    assert crowded.unnamed
    shown = page.render(replace(made.full(), pairs=[replace(pair, encoders=crowd)], directions=[]))
    assert "without room for a name" in shown and f"<bdi>{crowded.unnamed[-1]}</bdi>" in shown
    css = shown[: shown.index("</style>")]
    assert "min-width: 480px" not in css  # what made the page wider than a telephone


def test_a_folder_of_a_validation_becomes_a_report(made, tmp_path):
    made.full().write(tmp_path / "v")
    out = tmp_path / "page.html"
    done = CliRunner().invoke(report, [str(tmp_path / "v"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.read_text(encoding="utf-8") == page.render(made.full())
    both = CliRunner().invoke(report, [str(tmp_path / "v"), str(tmp_path), "--out", str(out)])
    assert isinstance(both.exception, InputError) and "give it alone" in str(both.exception)
    with pytest.raises(InputError, match="is a folder"):
        write_validation_report(made.full(), tmp_path)
