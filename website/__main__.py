"""Build the site: `python -m website [--no-samples]`, or `make docs`. It lies in build/site then."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from website import api, commands, encoder_options, samples, schemas
from xlingual.online import SITE

DOCS, BUILD = Path("docs"), Path("build")
ASSEMBLED, SAMPLES = BUILD / "docs", BUILD / "samples"
FURTHER = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "website/site.css": "site.css"}
IMAGES = "https://raw.githubusercontent.com/xlingual/xlingual/main/docs/"
SOURCE = "https://github.com/xlingual/xlingual/blob/main/"
OUT = re.compile(r"\]\((\.\./[^)#\s]+)")
PAGE = re.compile(rf"\]\({re.escape(SITE)}([^)#]*)")


def from_the_root(text: str) -> str:
    """Return a page of the project's folder with its links as they are within the site.

    >>> from_the_root(f"[a](docs/b.md) [c]({SITE}d/e/#f) ![]({IMAGES}images/g.png)")
    '[a](b.md) [c](d/e.md#f) ![](images/g.png)'
    """
    text = text.replace("](docs/", "](").replace(IMAGES, "")
    return PAGE.sub(lambda link: f"]({_file(link[1])}", text)


def _file(address: str) -> str:
    path = address.rstrip("/")
    for index in ("index.md", "README.md"):
        if not path or (ASSEMBLED / path / index).exists():
            return f"{path}/{index}".lstrip("/")
    return f"{path}.md"


def with_source(page: Path) -> str:
    """Return the text of a page; its links to files of the project that are no pages lead to the source."""

    def out_of_docs(link: re.Match[str]) -> str:
        target = os.path.normpath(DOCS / page.relative_to(ASSEMBLED).parent / link[1])
        return f"]({SOURCE}{target}" if not target.startswith(f"{DOCS}/") else link[0]

    return OUT.sub(out_of_docs, page.read_text(encoding="utf-8"))


def assemble(with_samples: bool) -> None:
    """Write all pages into build/docs: those of docs/, and those that are made of the code."""
    shutil.rmtree(ASSEMBLED, ignore_errors=True)
    shutil.copytree(DOCS, ASSEMBLED)
    (ASSEMBLED / "README.md").unlink()  # the first page of the site is that of the project
    for page in ASSEMBLED.rglob("*.md"):
        page.write_text(with_source(page), encoding="utf-8")
    made = {
        **commands.pages(),
        **encoder_options.pages(),
        **schemas.pages(),
        **api.pages(),
        **samples.pages(),
    }
    for path, text in made.items():
        file = ASSEMBLED / path
        if file.exists():
            raise FileExistsError(f"docs/{path} is made of the code: delete it")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for source, target in FURTHER.items():
        text = Path(source).read_text(encoding="utf-8")
        (ASSEMBLED / target).write_text(from_the_root(text), encoding="utf-8")
    if with_samples:
        samples.write(SAMPLES)
        for path, report in samples.reports(SAMPLES).items():
            shutil.copy(report, ASSEMBLED / path)


def main() -> None:
    """Assemble the pages and build the site; warnings, such as a broken link, are errors."""
    assemble("--no-samples" not in sys.argv)
    sys.exit(subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict"], check=False).returncode)


if __name__ == "__main__":
    main()
