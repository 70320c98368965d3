"""Translation with tiny random networks, written and loaded as real ones are."""

import json
import shutil

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.encoders.translation_model import TranslationModel
from xlingual.errors import InputError
from xlingual.records import Texts

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: E402

WORDS = ["das", "rot", "haus", "ist", "the", "red", "house", "is"]
CODES = ["deu_Latn", "eng_Latn", "fra_Latn"]


SIZE = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
SIZE |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2}


def seeded(model):
    torch.manual_seed(6)
    for weight in model.parameters():
        if weight.ndim > 1:  # far from zero, so that translations of different texts differ
            torch.nn.init.normal_(weight, std=0.5)
    return model


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    folder = tmp_path_factory.mktemp("marian")
    vocabulary = {word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", *WORDS])}
    pieces = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    pieces.pre_tokenizer = pre_tokenizers.Whitespace()
    pieces.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=pieces, **marks, model_max_length=12)
    fast.save_pretrained(folder)
    config = transformers.MarianConfig(
        vocab_size=len(vocabulary),
        **SIZE,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=1,
    )
    seeded(transformers.MarianMTModel(config)).save_pretrained(folder)
    return folder


def test_translations_are_those_of_the_library_in_any_batch(marian):
    texts = ["das haus", "rot", "das rot haus ist rot", "", "haus haus"]
    found = TranslationModel(str(marian), ["de"], "en", batch=3).translate(texts, "de")
    assert found.truncated == [False] * 5 and len(set(found.text)) > 2
    for batch in (1, 5):
        assert TranslationModel(str(marian), ["de"], "en", batch=batch).translate(texts, "de") == found
    model = transformers.MarianMTModel.from_pretrained(marian)
    fast = transformers.AutoTokenizer.from_pretrained(marian)
    for text, translation in zip(texts, found.text, strict=True):
        ids = fast(text, return_tensors="pt")["input_ids"]
        limits = {"max_length": None, "max_new_tokens": 2 * ids.shape[1] + 32}
        expected = fast.decode(
            model.generate(ids, num_beams=1, do_sample=False, **limits)[0], skip_special_tokens=True
        )
        assert expected.split()[:10] == translation.split()[:10]  # the tokenizer reads 12


def test_a_spec_end_to_end_cuts_long_texts_and_says_so(marian, tmp_path):
    (tmp_path / "v.txt").write_text("".join(f"{word} {i} 1\n" for i, word in enumerate(WORDS)))
    spec = f"translate:hf-{marian}?to=en&beams=2::wordvec:{tmp_path}/v.txt?weight=mean"
    (encoder,) = text_encoders([spec], languages=["en", "de"]).values()
    batch = Texts(["rot " * 20, "the house", "rot " * 11, "rot haus"], ["de", "en", "de", "de"], list("0123"))
    found = encoder.encode_noting(batch)
    assert found.truncated.tolist() == [True, False, False, False]
    np.testing.assert_array_equal(found.vectors[0], found.vectors[2])
    np.testing.assert_array_equal(found.vectors[1], [5, 1])
    assert encoder.content == ("text", "language")


def test_identity_follows_files_and_search(marian, tmp_path):
    copy = shutil.copytree(marian, tmp_path / "copy")
    one = TranslationModel(str(marian), ["de"], "en")
    assert TranslationModel(str(copy), ["de"], "en", batch=1, device="cpu").identity == one.identity
    assert TranslationModel(str(copy), ["de"], "en", beams=4).identity != one.identity
    for file in ("config.json", "generation_config.json"):
        settings = json.loads((copy / file).read_text()) if (copy / file).exists() else {}
        (copy / file).write_text(json.dumps({**settings, "no_repeat_ngram_size": 2}))
        model = TranslationModel(str(copy), ["de"], "en", device="cpu")
        assert model.identity != one.identity
    (copy / "generation_config.json").write_text(json.dumps({"no_repeat_ngram_size": 3}))
    with pytest.raises(InputError, match="changed"):
        model.translate(["das haus"], "de")


def test_a_model_for_each_language(marian, tmp_path):
    for tag in ("de", "fr"):
        shutil.copytree(marian, tmp_path / f"opus-{tag}-en")
    model = TranslationModel(f"{tmp_path}/opus-{{lang}}-en", ["de", "fr"], "en")
    assert model.translate(["rot"], "de") == model.translate(["rot"], "fr") and model.identity
    with pytest.raises(InputError, match="opus-nl-en"):
        model.translate(["rood"], "nl")


def spied(monkeypatch, kind):
    """Return a list that fills with the options of every call of `generate`."""
    seen, generate = [], kind.generate

    def spy(self, *args, **options):
        seen.append(options)
        return generate(self, *args, **options)

    monkeypatch.setattr(kind, "generate", spy)
    return seen


def test_models_of_many_languages_get_both_languages(tmp_path, monkeypatch):
    """NLLB: its tokenizer has a source language, its first token is the target."""
    vocabulary = {word: i for i, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", *"▁abcdefg", *CODES])}
    fast = transformers.NllbTokenizer(vocab=vocabulary, merges=[], extra_special_tokens=CODES)
    fast.save_pretrained(tmp_path)
    config = transformers.M2M100Config(
        vocab_size=len(fast), **SIZE, pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2
    )
    seeded(transformers.M2M100ForConditionalGeneration(config)).save_pretrained(tmp_path)
    model = TranslationModel(str(tmp_path), ["de"], "en")
    seen = spied(monkeypatch, transformers.M2M100ForConditionalGeneration)
    assert "eng_Latn" not in model.translate(["a b"], "de").text[0]
    ids = transformers.AutoTokenizer.from_pretrained(tmp_path).convert_tokens_to_ids(CODES)
    assert seen[0]["input_ids"][0, 0] == ids[0] and seen[0]["forced_bos_token_id"] == ids[1]
    with pytest.raises(InputError, match=r"ja; .*deu_Latn, eng_Latn, fra_Latn"):
        model.translate(["a"], "ja")


def test_marian_of_several_targets_gets_the_target(marian, tmp_path, monkeypatch):
    sentencepiece = pytest.importorskip("sentencepiece")
    (tmp_path / "text").write_text("\n".join(" ".join(WORDS[i:] + WORDS[:i]) for i in range(8)) + "\n")
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text"), model_prefix=str(tmp_path / "m"), vocab_size=22, minloglevel=3
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    pieces = [model.id_to_piece(i) for i in range(3, model.vocab_size())]
    vocabulary = {p: i for i, p in enumerate(["<pad>", "</s>", "<unk>", ">>deu<<", ">>fra<<", *pieces])}
    folder = tmp_path / "opus"
    folder.mkdir()
    for name in ("source.spm", "target.spm"):
        shutil.copy(tmp_path / "m.model", folder / name)
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    settings = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "ROMANCE"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = transformers.MarianConfig.from_pretrained(marian, vocab_size=len(vocabulary))
    seeded(transformers.MarianMTModel(config)).save_pretrained(folder)
    seen = spied(monkeypatch, transformers.MarianMTModel)
    for to in ("fr", "de"):
        TranslationModel(str(folder), ["en"], to).translate(["the red house"], "en")
    assert [options["input_ids"][0, 0] for options in seen] == [vocabulary[">>fra<<"], vocabulary[">>deu<<"]]
    with pytest.raises(InputError, match="ja"):
        TranslationModel(str(folder), ["en"], "ja").translate(["the"], "en")
