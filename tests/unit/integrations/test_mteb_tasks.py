"""Tasks of MTEB on stand-ins of MTEB and datasets; interop evaluates real ones."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from xlingual import Manifest
from xlingual.data.pools.mix import mix_pool
from xlingual.errors import InputError
from xlingual.integrations.mteb import mteb_task


@pytest.fixture
def library(monkeypatch):
    class Task:
        pass

    parts = {
        "datasets": SimpleNamespace(Dataset=SimpleNamespace(from_dict=dict)),
        "mteb": ModuleType("mteb"),
        "mteb.abstasks": ModuleType("mteb.abstasks"),
        "mteb.abstasks.retrieval": SimpleNamespace(AbsTaskRetrieval=Task),
        "mteb.abstasks.task_metadata": SimpleNamespace(TaskMetadata=SimpleNamespace),
    }
    for name, part in parts.items():
        monkeypatch.setitem(sys.modules, name, part)


@pytest.fixture
def manifest():
    rows = [
        {"id": f"{item}-{n}", "lang": tag, "text": f"{tag} {item} {n}", "item": item}
        for item in range(12)
        for tag, texts in (("en", 1), ("de", 1 + item % 3), ("fr", item % 2))
        for n in range(texts)
    ]
    return Manifest.of(rows[::-1])


def loaded(task):
    task.load_data()
    assert task.data_loaded
    return task.dataset


def test_a_pair_has_every_text_of_the_same_item_as_relevant(library, manifest):
    task = mteb_task(manifest, pairs="en-de,de-fr")
    assert task.metadata.eval_langs == {"en-de": ["eng-Latn", "deu-Latn"], "de-fr": ["deu-Latn", "fra-Latn"]}
    assert task.metadata.name == f"CrosslingualRetrieval-{manifest.digest[:8]}"
    data = loaded(task)
    for pair, n_items in (("en-de", 12), ("de-fr", 6)):
        part = data[pair]["test"]
        texts = {side: dict(zip(*part[side].values(), strict=True)) for side in ("queries", "corpus")}
        assert len({text.split()[1] for text in texts["queries"].values()}) == n_items
        assert not set(texts["queries"]) & set(texts["corpus"])
        for query, text in texts["queries"].items():
            item = text.split()[1]
            own = {name: 1 for name, other in texts["corpus"].items() if other.split()[1] == item}
            assert part["relevant_docs"][query] == own and own


def test_samples_are_those_of_the_evaluation(library, manifest):
    one, same, other = (
        loaded(mteb_task(manifest, pairs="en-de", sample=5, seed=seed))["en-de"]["test"] for seed in (0, 0, 1)
    )
    assert one == same and one["queries"] != other["queries"] and len(one["queries"]["id"]) == 5


def test_a_pool_is_one_subset(library, manifest, tmp_path):
    pool = mix_pool(manifest)
    for given in (pool, pool.write(tmp_path / "pool")):
        task = mteb_task(given, "Answers")
        assert task.metadata.name == "Answers" and task.metadata.main_score == "map_at_1000"
        part = loaded(task)["default"]["test"]
        assert len(part["queries"]["id"]) == len(pool.questions)
        assert part["corpus"]["text"] == pool.candidates.text
        found = {(q, c) for q, own in part["relevant_docs"].items() for c in own}
        names = (part["queries"]["id"], part["corpus"]["id"])
        assert found == {(names[0][q], names[1][c]) for q, c in zip(*pool.relevant, strict=True)}
    with pytest.raises(InputError, match="a pool is one task as a whole"):
        mteb_task(pool, pairs="en-de")
