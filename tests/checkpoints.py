"""Small networks with random weights, saved as a hub has them, so that the real loading code runs on them."""

import json
import shutil

import pytest

TEXTS = [
    "a red chair",
    "ein roter Stuhl steht am Tisch",
    "",
    "lamp",
    "a very long text " * 6,
    "a red chair",
    "water, glass and a table for the lamp of the red chair",
    "日本 椅子",
    "une chaise rouge et une table bleue dans la grande maison verte",
    "!",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = sorted(set("abcdefghijklmnopqrstuvwxyz0123456789.,:!?日本椅子"))
WORDS = ["red", "chair", "lamp", "table", "the", "very", "long", "text", "query", "passage", "##ing", "##er"]


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory):
    """Give a function from the kind of a network to a folder that holds one; made once."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    root = tmp_path_factory.mktemp("checkpoints")

    def folder(kind):
        if not (root / kind).exists():
            MAKERS[kind](root / kind, folder)
        return root / kind

    return folder


@pytest.fixture
def copied(checkpoints, tmp_path):
    """Give a function from the kind of a network to a folder of the test's own, which it may change."""
    return lambda kind, name="copy": shutil.copytree(checkpoints(kind), tmp_path / name)


def small(**more):
    return {
        "hidden_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "hidden_dropout_prob": 0.1,
        **more,
    }


def wordpiece(folder):
    from transformers import BertTokenizerFast

    vocabulary = [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return len(vocabulary)


def unigram(folder):
    """Save a tokenizer as XLM-R has it: unigrams, pieces of words behind a blank that is written ▁."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *LETTERS, *(f"▁{word}" for word in WORDS[:10]), "<mask>"]
    core = Tokenizer(models.Unigram([(piece, -float(3 - min(len(piece), 2))) for piece in pieces], 3, False))
    core.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Metaspace()
    core.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    named = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="<unk>", pad_token="<pad>", mask_token="<mask>", **named
    )
    tokenizer.save_pretrained(folder)
    return len(pieces)


def seeded(model_class, config):
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = model_class(config)
        for name, weights in model.named_parameters():  # as wide as trained ones, so that differences show
            if "weight" in name and weights.ndim == 2:
                torch.nn.init.normal_(weights, std=0.2)
    return model.eval()


def bert(folder, _):
    from transformers import BertConfig, BertModel

    size = wordpiece(folder)
    config = BertConfig(vocab_size=size, max_position_embeddings=40, **small())
    seeded(BertModel, config).save_pretrained(folder)


def bert_masked(folder, _):
    """Save a network with the head of masked words and no pooler, as M-BERT's siblings come."""
    from transformers import BertConfig, BertForMaskedLM

    size = wordpiece(folder)
    seeded(
        BertForMaskedLM, BertConfig(vocab_size=size, max_position_embeddings=40, **small())
    ).save_pretrained(folder)


def distilbert(folder, _):
    from transformers import DistilBertConfig, DistilBertModel

    size = wordpiece(folder)
    config = DistilBertConfig(
        vocab_size=size, max_position_embeddings=40, dim=32, n_layers=2, n_heads=4, hidden_dim=48
    )
    seeded(DistilBertModel, config).save_pretrained(folder)


def xlmr(folder, _):
    from transformers import XLMRobertaConfig, XLMRobertaModel

    size = unigram(folder)
    config = XLMRobertaConfig(
        vocab_size=size, max_position_embeddings=42, pad_token_id=1, bos_token_id=0, eos_token_id=2, **small()
    )
    seeded(XLMRobertaModel, config).save_pretrained(folder)


def xlm(folder, _):
    """Save a network that reads the language; its tokenizer needs sacremoses."""
    from transformers import XLMConfig, XLMModel, XLMTokenizer

    folder.mkdir(parents=True)
    symbols = ["<s>", "</s>", "<pad>", "<unk>", "<special1>", *LETTERS, *(f"{x}</w>" for x in LETTERS)]
    (folder / "vocab.json").write_text(json.dumps({s: i for i, s in enumerate(symbols)}), encoding="utf-8")
    (folder / "merges.txt").write_text("c h 1\n", encoding="utf-8")
    config = XLMConfig(
        vocab_size=len(symbols),
        emb_dim=32,
        n_layers=2,
        n_heads=4,
        max_position_embeddings=40,
        n_langs=3,
        lang2id={"en": 0, "de": 1, "zh": 2},
        id2lang={"0": "en", "1": "de", "2": "zh"},
        use_lang_emb=True,
    )
    seeded(XLMModel, config).save_pretrained(folder)
    XLMTokenizer.from_pretrained(folder).save_pretrained(folder)


def qwen(folder, _):
    """Save a network that reads from left to right, and has no first token and no padding of its own."""
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2Model

    size = wordpiece(folder)
    text = (folder / "tokenizer.json").read_text(encoding="utf-8")
    shutil.rmtree(folder)
    core = json.loads(text) | {"post_processor": None}
    folder.mkdir()
    (folder / "core.json").write_text(json.dumps(core), encoding="utf-8")
    PreTrainedTokenizerFast(tokenizer_file=str(folder / "core.json"), eos_token="[SEP]").save_pretrained(
        folder
    )
    (folder / "core.json").unlink()
    config = Qwen2Config(vocab_size=size + 8, max_position_embeddings=64, num_key_value_heads=4, **small())
    seeded(Qwen2Model, config).save_pretrained(folder)


def clip(folder, _):
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel

    size = wordpiece(folder)
    tower = small(num_hidden_layers=2)
    text = {**tower, "vocab_size": size, "max_position_embeddings": 40, "eos_token_id": 3}
    vision = {**tower, "image_size": 32, "patch_size": 16}
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
    seeded(CLIPModel, config).save_pretrained(folder)
    sizes = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
    CLIPImageProcessorPil(**sizes).save_pretrained(folder)


def siglip(folder, _):
    from transformers import SiglipConfig, SiglipImageProcessorPil, SiglipModel

    size = wordpiece(folder)
    tower = small(num_hidden_layers=2)
    text = {**tower, "vocab_size": size, "max_position_embeddings": 24, "projection_size": 32}
    vision = {**tower, "image_size": 32, "patch_size": 16}
    seeded(SiglipModel, SiglipConfig(text_config=text, vision_config=vision)).save_pretrained(folder)
    SiglipImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)


def t5(folder, _):
    from transformers import T5Config, T5Model

    size = wordpiece(folder)
    config = T5Config(vocab_size=size, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4)
    seeded(T5Model, config).save_pretrained(folder)


def sentence_bert(folder, others):
    """Save a model of sentence-transformers: mean pooling, a dense layer, unit length, prompts."""
    sentence_transformer(folder, others("bert"), prompts={"query": "query: ", "document": "passage: "})


def sentence_plain(folder, others):
    sentence_transformer(folder, others("xlmr"), prompts=None, dense=False)


def sentence_transformer(folder, base, prompts, dense=True):
    pytest.importorskip("sentence_transformers")
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models as modules

    word = modules.Transformer(str(base), max_seq_length=24)
    parts = [word, modules.Pooling(32, pooling_mode="mean")]
    if dense:
        with torch.random.fork_rng():
            torch.manual_seed(8)
            parts.append(modules.Dense(32, 20, activation_function=torch.nn.Tanh()))
        parts.append(modules.Normalize())
    SentenceTransformer(modules=parts, prompts=prompts, device="cpu").save_pretrained(str(folder))


def sparse_encoder(folder, others):
    library = pytest.importorskip("sentence_transformers")
    library.SparseEncoder(str(others("bert_masked")), device="cpu").save_pretrained(str(folder))


def multi_vector_encoder(folder, others):
    library = pytest.importorskip("sentence_transformers")
    library.MultiVectorEncoder(str(others("bert")), device="cpu").save_pretrained(str(folder))


def cross_encoder(folder, others):
    library = pytest.importorskip("sentence_transformers")
    library.CrossEncoder(str(others("bert")), num_labels=1, device="cpu").save_pretrained(str(folder))


MAKERS = {
    maker.__name__: maker
    for maker in (
        bert,
        bert_masked,
        distilbert,
        xlmr,
        xlm,
        qwen,
        clip,
        siglip,
        t5,
        sentence_bert,
        sentence_plain,
        sparse_encoder,
        multi_vector_encoder,
        cross_encoder,
    )
}
