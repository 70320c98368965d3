"""A correction of hubs as the similarity of an evaluation: what is compared, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual import Manifest, compare
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.report.pages.evaluation import page
from xlingual.report.render.text import as_text
from xlingual.results import Results
from xlingual.signature import Signature

N = 40


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    return [{"id": f"r{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(2 * N)]


@pytest.fixture(scope="module")
def csls(rows: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> str:
    import json

    path = tmp_path_factory.mktemp("bank") / "m.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"csls?k=10&fit={path}#{N}:{2 * N}"


@pytest.fixture(scope="module")
def manifest(rows: list[dict[str, str]]) -> Manifest:
    return Manifest.of(rows[:N])


class Hubby:
    """An encoder of two languages that stand apart, with one German text that lies between them: a hub."""

    identity = "hubby"

    def encode(self, batch: Any) -> np.ndarray:
        own = np.random.default_rng(0).standard_normal((2 * N, 7))
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        sides = {"en": 0.7, "de": -0.7}
        rows = [
            [1.0, *np.zeros(7)] if (tag, row) == ("de", "r0") else [sides[tag], *own[int(row[1:])]]
            for tag, row in zip(batch.language, batch.ids, strict=True)
        ]
        return np.array(rows, dtype=np.float32)


def xlr(manifest: Manifest, **options: Any) -> Results:
    given = {"pairs": "en-de", "measures": "R@1", "store": None, "text_encoders": Hubby()} | options
    return crosslingual_retrieval(manifest, **given)


def test_a_hub_is_repaired_and_the_similarity_is_a_part_of_the_system(
    manifest: Manifest, csls: str, tmp_path: Path
) -> None:
    """With cosine the hub is everybody's nearest text; corrected results are another system."""
    runs = {"cosine": xlr(manifest), "csls": xlr(manifest, similarity=csls)}
    assert runs["cosine"].entries[0].value == 1 / N and runs["csls"].entries[0].value > 0.9
    own, other = (Signature.parse(run.entries[0].signature) for run in runs.values())
    assert "similarity" not in own.system and own.differences(other) == []
    assert other.system["similarity"].startswith("csls?k=10&fit=")
    for name, run in runs.items():
        run.write(tmp_path / name)
    outcome = compare([tmp_path / name for name in runs])
    assert {row.encoder.partition("#")[0] for row in outcome.boards[0].rows} == {"cosine", "csls"}
    texts = {name: as_text(page(run), "markdown") for name, run in runs.items()}
    assert "Ranked by" not in texts["cosine"]
