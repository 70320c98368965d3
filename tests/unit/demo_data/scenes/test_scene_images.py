import io
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from PIL import Image

from xlingual.demo_data.scenes.draws import stream
from xlingual.demo_data.scenes.image import GROUNDS, paint
from xlingual.demo_data.scenes.scene import (
    BACKGROUNDS,
    COLOURS,
    KINDS,
    PATTERNS,
    POSITIONS,
    SIZES,
    USUAL,
    ObjectGroup,
    Scene,
    draw_scene,
)
from xlingual.demo_data.scenes.shapes import SHAPES

BALL = ObjectGroup("ball", "red", "big", 1, "plain", "middle")


def _pixels(scene, size=96):
    return np.asarray(Image.open(io.BytesIO(paint(scene, size))).convert("RGB"), dtype=float)


def _ink(group):
    """Return where the group changes the image: bool [96, 96]."""
    empty = _pixels(Scene((), "beige"))
    return np.abs(_pixels(Scene((group,), "beige")) - empty).sum(axis=2) > 60


@pytest.mark.parametrize("size", [16, 96, 200])
def test_image_is_a_small_png_of_the_size_asked_for(size):
    raw = paint(draw_scene(stream(0, "scene", 0)), size)
    image = Image.open(io.BytesIO(raw))
    assert (image.format, image.mode, image.size) == ("PNG", "RGB", (size, size))
    assert len(raw) < 12_000 * max(1, size / 96) ** 2


def test_the_same_scene_gives_the_same_bytes():
    scene = draw_scene(stream(5, "scene", 7))
    assert paint(scene) == paint(replace(scene))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.cases(4)
def test_every_kind_has_its_own_silhouette(kind):
    own = _ink(replace(BALL, kind=kind))
    assert 60 < own.sum() < 3000
    for other in KINDS:
        if other != kind:
            assert (own ^ _ink(replace(BALL, kind=other))).sum() > 20, other


def test_everything_that_can_be_said_changes_the_image():
    for name, options in {
        "colour": COLOURS,
        "size": SIZES,
        "pattern": PATTERNS,
        "position": POSITIONS,
    }.items():
        images = {paint(Scene((replace(BALL, **{name: option}),), "grey")) for option in options}
        assert len(images) == len(options), name
    assert len({paint(Scene((BALL,), background)) for background in BACKGROUNDS}) == len(BACKGROUNDS)
    assert len({paint(Scene((replace(BALL, count=count),), "grey")) for count in range(1, 6)}) == 5


@pytest.mark.parametrize("count", range(1, 6))
def test_the_number_of_objects_can_be_counted(count):
    from scipy.ndimage import label

    ink = _ink(replace(BALL, count=count, size="small", position="bottom"))
    assert label(ink, structure=np.ones((3, 3)))[1] == count


def test_groups_stand_where_they_are_said_to_stand():
    centre = {}
    for position in POSITIONS:
        rows, columns = np.nonzero(_ink(replace(BALL, position=position, count=3, size="small")))
        centre[position] = (columns.mean() / 96, rows.mean() / 96)
    assert centre["left"][0] < 0.35 and centre["right"][0] > 0.65
    assert centre["top"][1] < 0.35 and centre["bottom"][1] > 0.65
    assert np.abs(np.subtract(centre["middle"], 0.5)).max() < 0.1


def test_objects_off_their_exact_place_are_still_where_they_are_said_to_be():
    # a description must stay true of the image however far the objects are moved
    for position, axis, sign in (("left", 1, -1), ("right", 1, 1), ("top", 0, -1), ("bottom", 0, 1)):
        inwards = (-sign * 1.0, 0.0, 0.0) if axis else (0.0, -sign * 1.0, 0.0)
        group = replace(BALL, size="small", position=position, jitter=(inwards,))
        assert sign * (np.mean(np.nonzero(_ink(group))[axis]) / 96 - 0.5) > 0.05, position
    for corner in product((-1.0, 1.0), repeat=2):
        group = replace(BALL, size="small", jitter=((*corner, 0.0),))
        assert np.abs(np.mean(np.nonzero(_ink(group)), axis=1) / 96 - 0.5).max() < 0.13


def test_sizes_are_ordered():
    areas = [_ink(replace(BALL, size=size)).sum() for size in SIZES]
    assert areas[0] * 1.8 < areas[1] and areas[1] * 1.8 < areas[2]


def test_every_object_contrasts_with_every_background():
    for colour, background in product(COLOURS, BACKGROUNDS):
        group = replace(BALL, colour=colour)
        difference = np.abs(_pixels(Scene((group,), background)) - _pixels(Scene((), background)))
        assert (difference.max(axis=2) > 25).sum() > 150, (colour, background)


def test_themes_and_habits_name_what_there_is():
    assert set(USUAL.themes) == set(GROUNDS)
    assert {kind for kinds in USUAL.themes.values() for kind in kinds} == set(KINDS) == set(SHAPES)
    for habit in USUAL.habits.values():
        assert set(habit.colours) <= set(COLOURS)
        assert set(habit.positions) <= set(POSITIONS)


def test_things_recur_and_nothing_is_certain():
    scenes = [draw_scene(stream(0, "scene", i)) for i in range(2000)]
    houses = [scene.background for scene in scenes if any(group.kind == "house" for group in scene.groups)]
    usual = sum(background in ("darkblue", "grey") for background in houses) / len(houses)
    assert 0.7 < usual < 1
    for name, possible in (("colour", COLOURS), ("position", POSITIONS)):
        seen = {getattr(group, name) for scene in scenes for group in scene.groups if group.kind == "house"}
        assert len(seen) >= len(possible) - 2, name  # rare ones may be missing


def test_drawn_scenes_are_varied_and_sound():
    scenes = [draw_scene(stream(0, "scene", i)) for i in range(600)]
    groups = [group for scene in scenes for group in scene.groups]
    assert {group.kind for group in groups} == set(KINDS)
    assert {group.colour for group in groups} == set(COLOURS)
    assert {scene.background for scene in scenes} == set(BACKGROUNDS)
    assert {group.count for group in groups} == {1, 2, 3, 4, 5}
    assert {len(scene.groups) for scene in scenes} == {1, 2, 3}
    assert all(len(group.jitter) == group.count for group in groups)
    for scene in scenes:
        assert len({group.position for group in scene.groups}) == len(scene.groups)
        assert len({group.kind for group in scene.groups}) == len(scene.groups)
