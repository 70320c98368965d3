"""Build the site: `python -m website [--no-samples]`, or `make docs`. It lies in build/site then."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from website import api, commands, encoder_options, samples, schemas

DOCS, BUILD = Path("docs"), Path("build")
ASSEMBLED, SAMPLES = BUILD / "docs", BUILD / "samples"
FURTHER = {"CHANGELOG.md": "changelog.md", "website/site.css": "site.css"}


def assemble(with_samples: bool) -> None:
    """Write all pages into build/docs: those of docs/, and those that are made of the code."""
    shutil.rmtree(ASSEMBLED, ignore_errors=True)
    shutil.copytree(DOCS, ASSEMBLED, ignore=shutil.ignore_patterns("*.json", "README.md"))
    for source, target in FURTHER.items():
        shutil.copy(source, ASSEMBLED / target)
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
    if with_samples:
        samples.write(SAMPLES)
        for path, report in samples.reports(SAMPLES).items():
            shutil.copy(report, ASSEMBLED / path)


def main() -> None:
    """Assemble the pages and build the site; warnings, such as a broken link, are errors."""
    assemble("--no-samples" not in sys.argv)
    sys.exit(
        subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"], check=False
        ).returncode
    )


if __name__ == "__main__":
    main()
