import re
from pathlib import Path

from xlingual.encoders import SCHEMES, pixels

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
INDEX, PYTHON, BASELINES = (
    (REFERENCE / page).read_text(encoding="utf-8")
    for page in ("encoders.md", "encoders/python.md", "encoders/baselines.md")
)


def test_the_page_has_every_scheme():
    table = INDEX.partition("## Specs")[0]
    assert set(re.findall(r"`([\w-]+):`", table)) == set(SCHEMES)


def test_the_page_has_the_weights_of_pixels():
    for part, weight in zip(("layout", "histogram", "gradients"), pixels.WEIGHTS, strict=True):
        assert f"| {part} | {weight} |" in BASELINES
