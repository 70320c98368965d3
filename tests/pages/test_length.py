"""A how-to has at most 600 words, a tutorial or an explanation 1,500; other pages as they need."""

from pathlib import Path

import pytest
from tests.pages.blocks import prose

DOCS = Path(__file__).parents[2] / "docs"
LAYERS = {"tutorials": 1500, "how-to": 600, "explanation": 1500}
PAGES = [page for layer in LAYERS for page in sorted((DOCS / layer).rglob("*.md")) if page.stem != "index"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_is_short(page):
    most = LAYERS[page.relative_to(DOCS).parts[0]]
    assert len(prose(page.read_text(encoding="utf-8")).split()) <= most
