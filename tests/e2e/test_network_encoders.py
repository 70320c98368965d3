"""Networks on the command line, end to end: a small random one, loaded from its folder."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Save a network of one layer that reads letters."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path / "network"
    folder.mkdir()
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def manifest(path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as handle:
        rows = csv.writer(handle)
        rows.writerow(["item", "text_en", "text_de"])
        for i in range(30):
            word = "".join("abcdefghij"[int(digit)] for digit in f"{i:02d}") * 2
            rows.writerow([f"p{i}", word, word if i % 2 else f"{word} in einem langen deutschen Satz"])


def test_a_network_is_evaluated(xlingual: Any, network: Path) -> None:
    manifest(Path("m.csv"))
    outcome = xlingual(
        *("evaluate", "xlr", "m.csv", "--text-encoder", f"mean=hf:{network}", "--text-encoder"),
        *(f"first=hf:{network}?pool=cls&batch=7", "--measure", "R@1", "--pairs", "en:de", "--out", "out"),
    )
    assert outcome.code == 0, outcome.err
    entries = json.loads(Path("out/results.json").read_text(encoding="utf-8"))["results"]
    assert [entry["encoder"] for entry in entries] == ["mean", "first"]
    assert entries[0]["value"] >= 0.5  # equal texts have equal vectors
    assert "hf:" in entries[0]["signature"] and str(network) not in entries[0]["signature"]
