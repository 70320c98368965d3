"""Every code block of the tutorials and how-tos runs, in order, and prints what the page shows."""

from pathlib import Path

import pytest
from tests.pages.blocks import Runner, blocks_of, files_of, run_by
from tests.pages.files import MODELS, write

from xlingual.cli.main import run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(
    page for layer in ("tutorials", "how-to") for page in (DOCS / layer).rglob("*.md") if page.stem != "index"
)


def test_a_page_that_another_test_runs_is_named_there():
    for page in PAGES:
        if other := run_by(page):
            assert page.parent.name in (DOCS.parent / other).read_text(encoding="utf-8"), page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if not run_by(page)], ids=lambda page: str(page.relative_to(DOCS))
)
def test_the_blocks_of_the_page_run(page, tmp_path, monkeypatch, capfd, request):
    for library in files_of(page, "needs"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / ".store"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "100")
    needed = files_of(page)
    write(needed, request.getfixturevalue("checkpoints") if MODELS.keys() & set(needed) else None)
    capfd.readouterr()

    def printed():
        found = capfd.readouterr()
        return found.out + found.err

    runner = Runner(run, printed)
    for block in blocks_of(page):
        try:
            runner.block(block)
        except Exception as error:
            pytest.fail(f"{page.name}, line {block.line}: {error}")
