"""Properties that every description in every language has."""

import re
from itertools import product

import pytest

from xlingual.demo_data.scenes import LANGUAGES, scene_rows
from xlingual.demo_data.scenes.draws import stream
from xlingual.demo_data.scenes.languages import GRAMMARS
from xlingual.demo_data.scenes.mentions import Mention, Mentions, choose_mentions
from xlingual.demo_data.scenes.scene import (
    BACKGROUNDS,
    COLOURS,
    KINDS,
    PATTERNS,
    POSITIONS,
    SIZES,
    draw_scene,
)

STOPS = {"ja": "。", "zh": "。"}


def _assert_well_formed(text, language):
    assert text.endswith(STOPS.get(language, "."))
    assert not re.search(r"[{}]|None|  |^\s|\s$|\s[.,。、،]|\.\.|,,|-\s|-\.", text), text
    sentences = re.split(r"(?<=[.。])\s*", text)[:-1]
    assert all(sentence[0] == sentence[0].upper() for sentence in sentences), text
    if language in ("ja", "zh"):
        assert " " not in text
    if language in ("ar", "ja", "zh"):
        assert not re.search("[A-Za-z]", text), text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.cases(3)
def test_every_kind_colour_and_count_renders(language):
    rng = stream(0, "test", 0)
    for kind, colour, count in product(KINDS, COLOURS, range(1, 6)):
        for number in ("exact", *(["bare"] if count > 1 else []), *(["several"] if count > 2 else [])):
            mentions = Mentions((Mention(kind, count, number, colour=colour),))
            _assert_well_formed(GRAMMARS[language].describe(mentions, rng), language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.cases(3)
def test_every_size_pattern_position_and_background_renders(language):
    rng = stream(0, "test", 1)
    options = product((None, *SIZES), (None, *PATTERNS), (None, *POSITIONS), (None, *BACKGROUNDS), (1, 2, 4))
    for size, pattern, position, background, count in options:
        mention = Mention("tree", count, size=size, pattern=pattern, position=position)
        _assert_well_formed(GRAMMARS[language].describe(Mentions((mention,), background), rng), language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.cases(3)
def test_drawn_descriptions_are_well_formed_and_differ(language):
    texts = [item.texts[language] for item in scene_rows(1000, [language], seed=3)]
    for text in texts:
        _assert_well_formed(text, language)
    assert len(set(texts)) > 980


def _passes_over(mention):
    return mention.number != "exact" or mention.colour is None or mention.position is None


def test_a_describer_says_only_what_is_there_and_usually_not_everything():
    partial = 0
    for i in range(500):
        scene = draw_scene(stream(0, "scene", i))
        mentions = choose_mentions(scene, stream(0, "text", i))
        there = {group.kind: group for group in scene.groups}
        assert 1 <= len(mentions.groups) <= len(scene.groups)
        assert mentions.background in (None, scene.background)
        for mention in mentions.groups:
            group = there.pop(mention.kind)  # each group at most once
            assert mention.count == group.count
            for name in ("colour", "size", "pattern", "position"):
                assert getattr(mention, name) in (None, getattr(group, name))
            assert mention.number != "several" or group.count >= 3
        partial += bool(there) or mentions.background is None or any(map(_passes_over, mentions.groups))
    assert 250 < partial < 400


def test_descriptions_of_two_languages_are_independent_draws():
    said = [
        [choose_mentions(scene, stream(0, f"text-{language}", i)) for language in ("de", "en")]
        for i, scene in ((i, draw_scene(stream(0, "scene", i))) for i in range(500))
    ]
    mentioned = [[mentions.background is not None for mentions in pair] for pair in said]
    both = sum(first and second for first, second in mentioned)
    expected = sum(first for first, _ in mentioned) * sum(second for _, second in mentioned) / 500
    assert abs(both - expected) < 40  # more than 4 standard deviations
