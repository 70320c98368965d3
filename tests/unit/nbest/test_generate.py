"""N-best lists of tiny random networks, against what the library gives for one text at a time."""

from __future__ import annotations

import json
import shutil
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual.errors import DataWarning, InputError
from xlingual.nbest.format import read_nbest
from xlingual.nbest.generate import BeamSearch, Generator, generate_nbest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = ["das", "rot", "haus", "ist", "the", "red", "house", "is", "baum", "tree"]
LIMIT = 12
TEXTS = ["das haus", "rot", "das rot haus ist rot", "", "haus baum haus", "ist"]


def seeded(model: Any) -> Any:
    torch.manual_seed(6)
    for weight in model.parameters():
        if weight.ndim > 1:  # far from zero, so that translations of different texts differ
            torch.nn.init.normal_(weight, std=0.5)
    return model


@pytest.fixture(scope="module", params=["marian", "t5"])
def network(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder = tmp_path_factory.mktemp(request.param)
    vocabulary = {word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=LIMIT, **special
    ).save_pretrained(folder)
    shared = {"vocab_size": len(vocabulary), "d_model": 16, "pad_token_id": 0, "eos_token_id": 1}
    if request.param == "t5":
        config = transformers.T5Config(
            **shared, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0
        )
        model = transformers.T5ForConditionalGeneration(config)
    else:
        config = transformers.MarianConfig(
            **shared, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16,
            max_position_embeddings=64, decoder_start_token_id=0,
            forced_eos_token_id=1,
        )  # fmt: skip
        model = transformers.MarianMTModel(config)
    seeded(model).save_pretrained(folder)
    return folder


@cache
def own(folder: Path, text: str, n: int, start: int | None = None) -> dict[str, tuple[float, int]]:
    """Return the translations of one text with (log p / tokens, tokens), scored word by word."""
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        found = model.generate(
            ids, num_beams=n, num_return_sequences=n, do_sample=False, length_penalty=1.0, max_length=None,
            max_new_tokens=LIMIT, forced_bos_token_id=start,
        )  # fmt: skip
        scored: dict[str, tuple[float, int]] = {}
        for sequence in found.tolist():
            total, tokens = 0.0, 0
            for place in range(1 if start is None else 2, len(sequence)):
                logits = model(input_ids=ids, decoder_input_ids=torch.tensor([sequence[:place]])).logits
                total += float(torch.log_softmax(logits[0, -1], dim=-1)[sequence[place]])
                tokens += 1
                if sequence[place] == 1:
                    break
            text = tokenizer.decode(sequence, skip_special_tokens=True)
            scored[text] = max(scored.get(text, (-np.inf, 0)), (total / tokens, tokens))
    return scored


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.cases(1)
def test_lists_are_those_of_the_library(network: Path, batch: int) -> None:
    generator = Generator(str(network), BeamSearch(n=5, batch=batch), ("de", "en"))
    lists = list(generator.translations(TEXTS))
    assert len(lists) == len(TEXTS)
    assert len({found[0].text for found in lists}) > 2
    for text, found in zip(TEXTS, lists, strict=True):
        expected = own(network, text, 5)
        assert [one.logprob for one in found] == sorted((one.logprob for one in found), reverse=True)
        assert {one.text for one in found} == set(expected)
        for one in found:
            assert one.logprob == pytest.approx(expected[one.text][0], abs=2e-5)
            assert one.tokens == expected[one.text][1]


def test_a_file_of_lists(network: Path, tmp_path: Path) -> None:
    (tmp_path / "src").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    reports: list[tuple[str, int, int]] = []
    out = tmp_path / "lists" / "a.nbest.gz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xlingual.nbest.generate._PART", 1)  # several parts
        made = generate_nbest(
            tmp_path / "src", out, f"hf:{network}?device=cpu", BeamSearch(n=4, batch=2),
            progress=lambda *all_: reports.append(all_),
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a random network may give an empty text
        lists = read_nbest(out)
    assert len(lists) == len(TEXTS) and len(lists.hypotheses) == made
    assert lists.names == ("logprob", "tokens")
    assert (lists.features[:, 0] == lists.scores).all() and lists.scores.max() < 0
    counts = [done for _, done, _ in reports]
    assert reports[-1] == ("translating", 6, 6) and counts == sorted(set(counts)) and len(counts) >= 3
    for sentence in range(len(lists)):
        rows = range(*lists.offsets[sentence : sentence + 2])
        assert len({lists.hypotheses[row] for row in rows}) == len(rows) <= 4


def test_long_texts_are_cut_and_reported(network: Path) -> None:
    generator = Generator(str(network), BeamSearch(n=2), ("de", "en"))
    with pytest.warns(DataWarning, match="1 of 2 texts were longer than the 12 tokens"):
        first, second = generator.translations([" ".join(["rot"] * 40), " ".join(["rot"] * 11)])
    assert first == second


def test_a_token_that_names_the_language_does_not_count(
    network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = 3 + WORDS.index("tree")
    monkeypatch.setattr("xlingual.nbest.generate.set_languages", lambda *_: ("", tree))
    (found,) = Generator(str(network), BeamSearch(n=4), ("de", "en")).translations(["das haus"])
    expected = own(network, "das haus", 4, tree)
    assert {one.text for one in found} == set(expected)
    for one in found:
        assert one.text.startswith("tree")
        assert one.logprob == pytest.approx(expected[one.text][0], abs=2e-5)
        assert one.tokens == expected[one.text][1]


def test_a_wider_beam(network: Path) -> None:
    (found,) = Generator(str(network), BeamSearch(n=2, beams=6), ("de", "en")).translations(["das haus"])
    (narrow,) = Generator(str(network), BeamSearch(n=6), ("de", "en")).translations(["das haus"])
    assert 1 <= len(found) <= 2 and {one.text for one in found} <= {one.text for one in narrow}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("hf:", "expected hf:PATH"),
        ("hf:x::random", "expected hf:PATH"),
        ("hf:/nowhere/at/all", "expected the folder of a model"),
        ("hf:x?devise=cpu", "no option 'devise'. Did you mean 'device'"),
        ("hf:x?dtype=int8", "dtype=int8 is none of"),
    ],
)
def test_models_that_cannot_be_used(model: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "src").write_text("haus\n")
    with pytest.raises(InputError, match=message.replace("?", "\\?")):
        generate_nbest(tmp_path / "src", tmp_path / "out", model)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("given", [{"n": 0}, {"batch": 0}, {"max_tokens": 0}, {"n": 4, "beams": 3}])
def test_searches_that_make_no_sense(given: dict[str, int]) -> None:
    with pytest.raises(InputError, match="--"):
        BeamSearch(**given)


def test_weights_that_lack_are_refused(network: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(network, tmp_path / "broken")
    config = json.loads((broken / "config.json").read_text())
    config["d_model"] = 32
    (broken / "config.json").write_text(json.dumps(config))
    (tmp_path / "src").write_text("haus\n")
    with pytest.raises(InputError, match=r"hf:.*"):
        generate_nbest(tmp_path / "src", tmp_path / "out", f"hf:{broken}")


def test_the_command_line(network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from xlingual.cli import main

    (tmp_path / "src").write_text("das haus\nrot\n", encoding="utf-8")
    out = tmp_path / "a.nbest"
    command = ["rerank", "generate", str(tmp_path / "src"), "--model", f"hf:{network}", "--n", "3"]
    assert main.run([*command, "--out", str(out), "--max-tokens", "5"]) == 0
    count = len(out.read_text(encoding="utf-8").splitlines())
    assert capsys.readouterr().err == f"{count} translations\nwrote {out}\n"
    features = [line.split(" ||| ")[2].split() for line in out.read_text(encoding="utf-8").splitlines()]
    assert all(one[0] == "logprob=" and one[2] == "tokens=" and 1 <= int(one[3]) <= 5 for one in features)
