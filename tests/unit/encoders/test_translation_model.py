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
WORDS = ["das", "rot", "haus", "ist", "the", "red", "house", "is"]
CODES = ["deu_Latn", "eng_Latn", "fra_Latn"]


def tokenizer(more=()):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", *more, *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return made, vocabulary


def seeded(model):
    torch.manual_seed(6)
    for weight in model.parameters():
        if weight.ndim > 1:  # far from zero, so that translations of different texts differ
            torch.nn.init.normal_(weight, std=0.5)
    return model


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    folder = tmp_path_factory.mktemp("marian")
    made, vocabulary = tokenizer()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=12
    )
    fast.save_pretrained(folder)
    size = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = transformers.MarianConfig(
        vocab_size=len(vocabulary),
        **size,
        **heads,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=1,
    )
    seeded(transformers.MarianMTModel(config)).save_pretrained(folder)
    return folder


def own(marian, text):
    """Return what the library itself makes of one text, without any batch."""
    model = transformers.MarianMTModel.from_pretrained(marian)
    fast = transformers.AutoTokenizer.from_pretrained(marian)
    ids = fast(text, return_tensors="pt")["input_ids"]
    most = 2 * ids.shape[1] + 32
    made = model.generate(ids, num_beams=1, do_sample=False, max_length=None, max_new_tokens=most)
    return fast.decode(made[0], skip_special_tokens=True)


def test_translations_are_those_of_the_library_in_any_batch(marian):
    texts = ["das haus", "rot", "das rot haus ist rot", "", "haus haus"]
    found = TranslationModel(str(marian), ["de"], "en", batch=3).translate(texts, "de")
    assert found.truncated == [False] * 5
    assert len(set(found.text)) > 2
    for batch in (1, 5):
        assert TranslationModel(str(marian), ["de"], "en", batch=batch).translate(texts, "de") == found
    limit = 12  # the tokenizer's, of texts and of translations
    for text, made in zip(texts, found.text, strict=True):
        assert own(marian, text).split()[: limit - 2] == made.split()[: limit - 2]


def test_long_texts_are_cut_and_reported(marian):
    long = " ".join(["rot"] * 40)
    found = TranslationModel(str(marian), ["de"], "en").translate([long, " ".join(["rot"] * 11)], "de")
    assert found.truncated == [True, False]
    assert found.text[0] == found.text[1]


def test_a_spec_end_to_end(marian, tmp_path):
    (tmp_path / "v.txt").write_text("".join(f"{word} {i} 1\n" for i, word in enumerate(WORDS)))
    spec = f"translate:hf-{marian}?to=en&beams=2::wordvec:{tmp_path}/v.txt?weight=mean"
    (encoder,) = text_encoders([spec], languages=["en", "de"]).values()
    batch = Texts(["rot " * 20, "the house", "rot haus"], ["de", "en", "de"], ["0", "1", "2"])
    found = encoder.encode_noting(batch)
    assert found.truncated.tolist() == [True, False, False]
    np.testing.assert_array_equal(found.vectors[1], [5, 1])
    assert encoder.content == ("text", "language")


def test_identity_follows_weights_and_search(marian, tmp_path):
    import shutil

    copy = shutil.copytree(marian, tmp_path / "copy")
    one = TranslationModel(str(marian), ["de"], "en")
    assert TranslationModel(str(copy), ["de"], "en", batch=1, device="cpu").identity == one.identity
    assert TranslationModel(str(copy), ["de"], "en", beams=4).identity != one.identity
    seeded(transformers.MarianMTModel.from_pretrained(copy)).save_pretrained(copy)
    settings = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**settings, "note": "changed"}))
    assert TranslationModel(str(copy), ["de"], "en").identity != one.identity


def test_a_model_for_each_language(marian, tmp_path):
    import shutil

    for tag in ("de", "fr"):
        shutil.copytree(marian, tmp_path / f"opus-{tag}-en")
    model = TranslationModel(f"{tmp_path}/opus-{{lang}}-en", ["de", "fr"], "en")
    assert model.translate(["rot"], "de") == model.translate(["rot"], "fr")
    assert model.identity
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


@pytest.fixture(scope="module")
def nllb(tmp_path_factory):
    """A network of many languages: its tokenizer has a source language, its first token is the target."""
    folder = tmp_path_factory.mktemp("nllb")
    vocabulary = {word: i for i, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", *"▁abcdefg", *CODES])}
    fast = transformers.NllbTokenizer(vocab=vocabulary, merges=[], extra_special_tokens=CODES)
    fast.save_pretrained(folder)
    size = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1}
    config = transformers.M2M100Config(
        vocab_size=len(fast),
        **size,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    seeded(transformers.M2M100ForConditionalGeneration(config)).save_pretrained(folder)
    return folder


def test_models_of_many_languages_get_both_languages(nllb, monkeypatch):
    model = TranslationModel(str(nllb), ["de"], "en")
    seen = spied(monkeypatch, transformers.M2M100ForConditionalGeneration)
    assert "eng_Latn" not in model.translate(["a b"], "de").text[0]
    fast = transformers.AutoTokenizer.from_pretrained(nllb)
    ids = fast.convert_tokens_to_ids(CODES)
    assert seen[0]["input_ids"][0, 0] == ids[0] and seen[0]["forced_bos_token_id"] == ids[1]
    with pytest.raises(InputError, match=r"knows no language ja; it has deu_Latn, eng_Latn, fra_Latn"):
        model.translate(["a"], "ja")


@pytest.fixture
def sentence_pieces(tmp_path):
    """Give the path of a model of sentencepiece and its pieces."""
    sentencepiece = pytest.importorskip("sentencepiece")
    (tmp_path / "text").write_text("\n".join(" ".join(WORDS[i:] + WORDS[:i]) for i in range(8)) + "\n")
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text"), model_prefix=str(tmp_path / "m"), vocab_size=22, minloglevel=3
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    return tmp_path / "m.model", [model.id_to_piece(i) for i in range(3, model.vocab_size())]


def test_the_tokenizer_of_m2m100_itself(nllb, tmp_path, sentence_pieces, monkeypatch):
    import shutil

    path, pieces = sentence_pieces
    folder = tmp_path / "m2m"
    folder.mkdir()
    shutil.copy(path, folder / "sentencepiece.bpe.model")
    vocabulary = {piece: i for i, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", *pieces])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "M2M100Tokenizer"}))
    config = transformers.M2M100Config.from_pretrained(nllb, vocab_size=300)
    seeded(transformers.M2M100ForConditionalGeneration(config)).save_pretrained(folder)
    seen = spied(monkeypatch, transformers.M2M100ForConditionalGeneration)
    found = TranslationModel(str(folder), ["de"], "en").translate(["das haus"], "de")
    own = transformers.AutoTokenizer.from_pretrained(folder)
    assert seen[0]["input_ids"][0, 0] == own.get_lang_id("de")
    assert seen[0]["forced_bos_token_id"] == own.get_lang_id("en")
    assert "__en__" not in found.text[0]


def test_the_tokenizer_of_marian_itself(marian, tmp_path, sentence_pieces, monkeypatch):
    import shutil

    path, pieces = sentence_pieces
    vocabulary = {
        piece: i for i, piece in enumerate(["<pad>", "</s>", "<unk>", ">>deu<<", ">>fra<<", *pieces])
    }
    folder = tmp_path / "opus"
    folder.mkdir()
    shutil.copy(path, folder / "source.spm")
    shutil.copy(path, folder / "target.spm")
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "ROMANCE"})
    )
    config = transformers.MarianConfig.from_pretrained(marian, vocab_size=len(vocabulary))
    seeded(transformers.MarianMTModel(config)).save_pretrained(folder)
    seen = spied(monkeypatch, transformers.MarianMTModel)
    for to in ("fr", "de"):
        TranslationModel(str(folder), ["en"], to).translate(["the red house"], "en")
    assert [options["input_ids"][0, 0] for options in seen] == [vocabulary[">>fra<<"], vocabulary[">>deu<<"]]
    with pytest.raises(InputError, match="knows no language ja"):
        TranslationModel(str(folder), ["en"], "ja").translate(["the"], "en")


def test_every_setting_of_the_model_counts(marian, tmp_path):
    copy = shutil.copytree(marian, tmp_path / "copy")
    (copy / "generation_config.json").unlink(missing_ok=True)
    before = TranslationModel(str(copy), ["de"], "en").identity
    (copy / "generation_config.json").write_text(json.dumps({"no_repeat_ngram_size": 2}))
    model = TranslationModel(str(copy), ["de"], "en", device="cpu")
    assert model.identity != before
    (copy / "generation_config.json").write_text(json.dumps({"no_repeat_ngram_size": 3}))
    with pytest.raises(InputError, match=r"a file of the model changed while it was read: start again$"):
        model.translate(["das haus"], "de")
