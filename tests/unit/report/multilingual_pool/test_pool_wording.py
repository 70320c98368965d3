"""What pages and tables of a multilingual pool say fits what they show, and names languages."""

from io import StringIO

import pytest
from rich.console import Console

from xlingual.report import multilingual_pool, numbers, page, sections, verdict, words
from xlingual.report.multilingual_pool import loss, maps, terms
from xlingual.report.multilingual_pool import tables as pool_tables
from xlingual.report.multilingual_pool.reading import AGNOSTIC, PREFER_OWN, seen
from xlingual.report.tables import leaderboard
from xlingual.results import Interval

TASK = "multilingual-pool"


def encoders(results, policy=AGNOSTIC):
    return seen([results], leaderboard([results], TASK, "AP"), policy)


def with_views(results, **views):
    """Return the results where every entry has these views besides, or not at all where None."""
    for entry in results.entries:
        changed = dict(entry.views) | views
        object.__setattr__(entry, "views", {k: v for k, v in changed.items() if v is not None})
    return results


def printed(results, width, measure="AP"):
    screen = Console(file=StringIO(), width=width, highlight=False)
    multilingual_pool.show(screen, results, measure)
    return screen.file.getvalue()


def terms_of(results):
    section, _ = sections.section_of([results], TASK, 0)
    return [term for term, _ in terms.terms(section.pool, ["AP"])], section.about


def test_a_language_that_hardly_occurs_does_not_stretch_the_scale_of_ratios(pool):
    ratios = {
        "ar->ar": 7.2, "ar->de": 0.0001, "ar->en": 1.0, "de->ar": 0.0, "de->de": 3.0, "de->en": 0.14,
    }  # fmt: skip
    group = maps.ratios(
        encoders(with_views(pool.results(encoders=("chargram",)), language_share_ratio_top100=ratios))
    )
    assert group.ends == ("≤ 1/7", "1", "≥ 7")
    steps = [cell.step for _, cells in group.maps[0].lines for cell in cells]
    assert steps == [20, 0, 10, 0, 16, 0]


def test_ratios_within_the_number_of_languages_are_not_cut(pool):
    ratios = {"ar->ar": 2.0, "ar->de": 0.5, "de->ar": 0.5, "de->de": 2.0}
    one = pool.results(encoders=("chargram",))
    group = maps.ratios(encoders(with_views(one, language_share_ratio_top100=ratios)))
    assert group.ends == ("1/2", "1", "2")
    higher = ratios | {"de->de": 3.46}
    group = maps.ratios(encoders(with_views(one, language_share_ratio_top100=higher)))
    assert group.ends == ("1/3.5", "1", "3.5")


@pytest.mark.parametrize(
    ("policies", "said", "unsaid"),
    [
        ((AGNOSTIC,), "in whatever language", "Only answers in the question's language"),
        ((PREFER_OWN,), "Only answers in the question's language count as right", "whatever language"),
        ((AGNOSTIC, PREFER_OWN), "With the policy prefer-own, only answers", "Only answers"),
    ],
)
def test_the_introduction_fits_the_policy(pool, policies, said, unsaid):
    _, about = terms_of(pool.results(policies=policies))
    assert said in about and unsaid not in about and about.endswith(".")


def test_the_glossary_has_the_terms_of_the_parts_that_are_shown(pool):
    every, _ = terms_of(pool.results())
    assert every == [
        "mAP", "One target only", "Remove one, Δ", "Monolingual pool", "Language share",
        "Language identification", "Where the loss comes from", "PEER", "Hub",
    ]  # fmt: skip
    own, _ = terms_of(pool.results(policies=(PREFER_OWN,)))
    assert own == ["mAP", "Own-language answers only"]
    html = page.render([pool.results(policies=(PREFER_OWN,))])
    assert "all answers in the question&#39;s language stand above" in html
    assert "all answers stand above" not in html and "PEER" not in html
    less, _ = terms_of(with_views(pool.results(), hubs=None, fairness=None, loss=None))
    assert not {"Hub", "PEER", "Where the loss comes from"} & set(less) and "Language share" in less


def test_a_page_has_the_glossary_of_its_tasks():
    of_pool = (("mAP", "text"),)
    terms_alone = [term for term, _ in words.glossary([TASK], of_pool)]
    assert terms_alone == ["mAP", "Chance", "Interval", "Tied"]
    assert [term for term, _ in words.glossary([TASK], of_pool, tied=False)][-1] == "Interval"
    assert words.glossary(["backretrieval"]) == words.GLOSSARY
    assert words.glossary([TASK, "backretrieval"], of_pool) == (*of_pool, *words.GLOSSARY)


def test_a_narrow_terminal_drops_monolingual_pools_first_and_explains_what_is_left(pool):
    text = printed(pool.results(), 80)
    assert "behind" in text and "Δ: what removing" in text
    assert "monolingual and monolingual → here are left out" in " ".join(text.split())
    assert "monolingual: " not in text and "rank with candidates" not in text
    less = printed(with_views(pool.results(), one_target_summary=None, monolingual_pool_average=None), 120)
    assert "Δ: what removing" in less and "own, other" not in less and "monolingual" not in less


def test_own_language_wanted_is_one_table_with_its_legend(pool):
    text = " ".join(printed(pool.results(policies=(PREFER_OWN,)), 120).split())
    assert text.count("balanced_mix") == 1
    for said in ("50.0 %", "30.0 %", "in another: first is a right answer, but", "wrong own, wrong other:"):
        assert said in text
    assert "untold" not in text
    both = " ".join(printed(pool.results(policies=(AGNOSTIC, PREFER_OWN)), 120).split())
    assert "own language wanted · mAP" in both and both.count("in another: first is") == 1


def test_other_measures_have_the_layout_of_the_first(pool):
    text = printed(pool.results(), 120, "R@10")
    assert text.splitlines()[1].strip() == "multilingual-pool · R@10"
    assert "0.635 [0.623, 0.647]" in text and "behind" in text and "own" not in text
    assert "95 % interval" not in text


def test_maps_of_many_languages_stand_one_in_a_row(pool):
    several = maps.one_target(encoders(pool.results()))
    tags = [f"l{i}" for i in range(10)]
    values = {f"{a}->{b}": 0.5 for a in tags for b in tags}
    found = encoders(with_views(pool.results(), languages=tags, one_target=values))
    assert several.style == "" and maps.one_target(found).style == "wide single"
    html = page.render([with_views(pool.results(), languages=tags, one_target=values)])
    assert 'class="maps close wide single"' in html


def test_encoders_are_rows_by_question_language(pool):
    group = maps.by_question(encoders(pool.results()))
    assert [[label for label, _ in drawn.lines] for drawn in group.maps] == [
        ["balanced_mix", "english-only-dual-encoder_v2", "chargram"]
    ] * 2
    _, cells = group.maps[0].lines[2]
    assert [cell.title.partition(":")[0] for cell in cells][:2] == ["mean", "Arabic (ar)"]


def test_what_is_said_of_own_answers_needs_some(pool):
    only_other = {"ar->de": {"question": 4.0, "answer": 1.0, "third": 2.0}}
    found = loss.losses(encoders(with_views(pool.results(), loss=only_other)))
    assert found.groups == "other: answers in another language"
    both = loss.losses(encoders(pool.results()))
    assert both.groups == "own: answers in the question's language; other: answers in another language"
    assert pool_tables.glance(encoders(pool.results())).title == "Own and other languages"
    bare = with_views(pool.results(), one_target_summary=None, remove_one=None)
    assert pool_tables.glance(encoders(bare)).title == "At a glance"


def test_languages_are_named_in_sentences(pool):
    said = " ".join(verdict(pool.results()))
    assert "(hi)" in said and " in hi " not in said and " hi " not in said
    assert words.pair("l1", "pool") == "questions in 'l1'"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.005, "0.005"), (0.00499, "0.0050"), (0.0023, "0.0023"), (0.000041, "0.000041"), (0.0, "0.000")],
)
def test_small_numbers_keep_two_digits(value, text):
    assert numbers.fine(value) == text
    assert numbers.finely(value).startswith(text)
    assert numbers.fine(1.0, "MedR") == "1.0"


def test_the_verdict_shows_small_numbers_with_two_digits(pool):
    ci = Interval(0.0012, 0.0034, 0.95, "t")
    views = {"ar->ar": 0.0023, "ar->de": 0.4}
    results = with_views(pool.results(), one_target=views, ci={"one_target": {"ar->ar": ci}})
    assert any("0.0023 [0.0012, 0.0034]." in sentence for sentence in verdict(results))
