import re
from pathlib import Path

from xlingual.encoders import SCHEMES, pixels
from xlingual.encoders.base import ABILITIES

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
INDEX, PYTHON, BASELINES = (
    (REFERENCE / page).read_text(encoding="utf-8")
    for page in ("encoders.md", "encoders/python.md", "encoders/baselines.md")
)


def test_the_page_has_every_scheme():
    table = INDEX.partition("## Specs")[0]
    assert set(re.findall(r"`([\w-]+):`", table)) == set(SCHEMES)


def test_the_page_has_the_weights_of_pixels():
    for part, weight in pixels.WEIGHTS.items():
        assert f"| {part} | {weight} |" in BASELINES


def test_the_page_has_all_that_an_object_may_offer():
    section = PYTHON.partition("| attribute or method |")[2].partition("The object is taken")[0]
    first = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    others = section.partition("It may also have")[2]
    offered = set(re.findall(r"`(\w+)(?:\(\w*\))?`", others.replace("`Encoder`", "") + "".join(first)))
    assert offered - {"identity", "name"} == ABILITIES - {"has_own_identity", "is_service"}
