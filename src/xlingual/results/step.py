"""What a finished step of a suite was made from, and the files that it wrote."""

from __future__ import annotations

from typing import Annotated, Any

from xlingual.results.document import FolderDocument
from xlingual.results.values import about


class Step(FolderDocument, frozen=True, kw_only=True, tag="xlingual/step/1"):
    """A finished step: nothing of it is computed again while all of this stays as it is."""

    made_by = "xlingual run SUITE"
    file = "step.json"

    step: Annotated[str, about("Its name in the suite.")]
    settings: Annotated[
        dict[str, Any], about("Settings that change no number, but what is written, such as examples.")
    ]
    program: Annotated[dict[str, str], about("Version of the program, and of its conventions.")]
    inputs: Annotated[
        dict[str, str],
        about("Digest of each file and folder that it reads, by path; of results, of what they found."),
    ]
    files: Annotated[dict[str, str], about("SHA-256 of each file that it wrote, by name.")]
