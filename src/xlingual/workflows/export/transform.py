"""A transform that `xlingual repair` chose, for other programs: plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Vectors
from xlingual.encoders.transform import map_of
from xlingual.errors import listed
from xlingual.models.card import identity, place_name, signature
from xlingual.models.folder import CARD, ModelFolder
from xlingual.streams import stream
from xlingual.transforms.affine import Affine, unit_rows
from xlingual.workflows.export.about import check_same, python, readme
from xlingual.workflows.export.checkpoint import write_settings
from xlingual.workflows.export.sentence_transformers import MARK, new_folder

MAPS = "maps.safetensors"
_ROWS = 8  # vectors of each language that maps are tried on


@dataclass(frozen=True)
class TransformModel:
    """A transform that is exported."""

    folder: ModelFolder

    @cached_property
    def map(self) -> Affine:
        """The map."""
        return map_of(self.folder)

    @property
    def who(self) -> str:
        """How messages name it."""
        return f"model:{self.folder.path}"

    @property
    def dim(self) -> int:
        """How many dimensions its vectors have."""
        return int(self.map.offset.shape[1])

    @property
    def about(self) -> dict[str, Any]:
        """Where an export comes from."""
        return {
            "model": identity(self.folder),
            "signature": str(signature(self.folder)),
            "base": self.folder.config["base"]["identity"],
            "languages": self.map.places,
            "similarity": self.folder.config["model"].get("similarity"),
        }

    def to_arrays(self, out: Path, replace: bool) -> float:
        """Write a matrix and an offset for each language; return the largest difference of their vectors."""
        from safetensors.numpy import load_file, save_file

        names = [place_name(tag) for tag in self.map.places]
        with new_folder(out, replace) as made:
            save_file(self._plain(names), made / MAPS)
            write_settings(made / MARK, self.about)
            (made / CARD).write_text(self._arrays_readme(names), encoding="utf-8")
            maps = load_file(made / MAPS)
            vectors, places = self._tried()
            unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            found = [
                unit[[row]] @ maps[f"{names[place]}.matrix"] + maps[f"{names[place]}.offset"]
                for row, place in enumerate(places)
            ]
            return check_same(
                f"the export of {self.who}", np.concatenate(found), self._expected(vectors, places)
            )

    def _plain(self, names: list[str]) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for name, tag in zip(names, self.map.places, strict=True):
            matrix, offset = matrix_and_offset(self.map, tag)
            found[f"{name}.matrix"] = np.ascontiguousarray(matrix, dtype=np.float32)
            found[f"{name}.offset"] = np.ascontiguousarray(offset, dtype=np.float32)
        return found

    def _tried(self) -> tuple[Vectors, np.ndarray]:
        """Return vectors that the maps are tried on, and the place of each."""
        places = np.repeat(np.arange(len(self.map.places)), _ROWS)
        vectors = stream(0, "export").standard_normal((len(places), self.map.dim)).astype(np.float32)
        return vectors, places

    def _expected(self, vectors: Vectors, places: np.ndarray) -> Vectors:
        """Return the model's own vectors."""
        tags = [self.map.places[place] for place in places]
        return self.map.apply(unit_rows(vectors), [place_name(tag) for tag in tags])

    def _arrays_readme(self, names: list[str]) -> str:
        what = (
            f"A matrix and an offset for each language, which map vectors of `{self.base_name}` "
            f"({self.map.dim:,} dimensions) to {self.dim:,} dimensions. Languages: {listed(names, 40)}"
            f"{' (`*`: all others)' if len(names) > 1 and '*' in names else ''}."
        )
        lines = [
            "import numpy as np",
            "from safetensors.numpy import load_file",
            "",
            f'maps = load_file("{MAPS}")',
            "unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)",
            f'mapped = unit @ maps["{names[0]}.matrix"] + maps["{names[0]}.offset"]',
        ]
        return readme(self.folder, what, python(lines), self.compared, library="numpy")

    @property
    def base_name(self) -> str:
        """The encoder below, as the repair named it."""
        base = self.folder.config["base"]
        return str(base.get("name") or base["identity"])

    @property
    def compared(self) -> str:
        """How its vectors are compared."""
        similarity = self.folder.config["model"].get("similarity")
        by = "Vectors are not of unit length: compare them by cosine."
        if similarity in (None, "cosine"):
            return by
        return (
            f"{by} The model was chosen with a correction of hubs, `{similarity}`, which is no part of the "
            "vectors: `xlingual embed … --offsets` writes it as one more dimension, where that can be done."
        )


def matrix_and_offset(map: Affine, tag: str | None) -> tuple[Floats, Floats]:
    """Return the matrix and the offset of a place."""
    place = map.row[tag]
    if map.matrix is None:
        return np.eye(map.dim), map.offset[place]
    return map.matrix[place if len(map.matrix) > 1 else 0], map.offset[place]
