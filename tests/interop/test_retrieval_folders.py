"""Retrieval folders as MTEB stores them: its own loader and a pool have the same judgements."""

import warnings

import pytest

from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import DataWarning

datasets = pytest.importorskip("datasets")
pytest.importorskip("mteb")

LANGUAGES = ("de", "te")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Write two languages as MTEB pushes them: de-corpus, de-queries and de-qrels, each with its splits."""
    folder = tmp_path_factory.mktemp("mteb") / "set"
    configs = []
    for n, language in enumerate(LANGUAGES):
        parts = {
            "corpus": [
                {"_id": f"d{i}", "title": "T" if i else "", "text": f"{language} {i}"} for i in range(5)
            ],
            "queries": [{"_id": f"q{i}", "text": f"{language} ask {i}"} for i in range(4)],
            "qrels": [
                {"query-id": f"q{i}", "corpus-id": f"d{(i + n) % 5}", "score": score}
                for i, score in enumerate((1, 2, 0))
            ],
        }
        for part, rows in parts.items():
            path = folder / f"{language}-{part}" / "test-00000-of-00001.parquet"
            path.parent.mkdir(parents=True)
            datasets.Dataset.from_list(rows).to_parquet(path)
            configs.append(
                f"- config_name: {language}-{part}\n  data_files:\n  - split: test\n"
                f"    path: {language}-{part}/test-*"
            )
    (folder / "README.md").write_text("---\nconfigs:\n" + "\n".join(configs) + "\n---\n", encoding="utf-8")
    return folder


def test_judgements_are_those_of_mteb(stored):
    from mteb.abstasks.retrieval_dataset_loaders import RetrievalDatasetLoader

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        pool = MultilingualPool.read(stored)
    q, c = pool.questions, pool.candidates
    for code, language in enumerate(pool.languages):
        loaded = RetrievalDatasetLoader(str(stored), None, split="test", config=language).load()
        theirs = {
            (query, document, score)
            for query, own in loaded["relevant_docs"].items()
            for document, score in own.items()
            if score > 0
        }
        ours = {
            (
                q.ids[i].removeprefix(f"{language}:"),
                c.ids[j],
                dict(zip(c.keys[j], c.grades[j], strict=True))[q.key[i]],
            )
            for i, j in zip(*(part.tolist() for part in pool.relevant), strict=True)
            if q.language[i] == code and c.language[j] == code
        }
        assert ours == theirs and len(ours) == 2
        texts = {row["id"]: f"{row['title']} {row['text']}".strip() for row in loaded["corpus"]}
        mine = [i for i in range(len(c)) if c.language[i] == code]
        assert {c.ids[i]: c.text[i] for i in mine} == texts
