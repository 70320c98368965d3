"""The public corpora that are read by name, one row each. Licences are those that their publishers state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from xlingual.errors import InputError, did_you_mean, listed

Kind = Literal["manifest", "pool", "pairs"]


@dataclass(frozen=True)
class Corpus:
    """One corpus. `files` are patterns below its folder: the first one is needed, with what it holds."""

    name: str
    title: str
    kind: Kind  # what becomes of it: a manifest, a multilingual pool, or files of sentence pairs
    about: str
    files: Mapping[str, str]
    licence: str
    citation: str
    url: str
    reader: str  # "module:function" in this room
    images: bool = False  # its texts have images
    split: str | None = None  # the usual one, where splits are taken one by one


CORPORA: Mapping[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            name="xm3600",
            title="Crossmodal-3600",
            kind="manifest",
            images=True,
            about="captions in 36 languages, none a translation, of 3,600 images",
            files={"captions.jsonl": "captions", "*.jpg": "images, if they were downloaded"},
            licence="CC BY 4.0; images: CC BY 2.0",
            citation="Thapliyal, Pont-Tuset, Chen, Soricut: Crossmodal-3600. EMNLP 2022",
            url="https://google.github.io/crossmodal-3600/",
            reader="captions:xm3600",
        ),
        Corpus(
            name="wit",
            title="Wikipedia-based Image Text (WIT)",
            kind="manifest",
            images=True,
            about="captions of images of Wikipedia in 108 languages",
            files={"wit_v1.*.tsv.gz": "tables, or unpacked .tsv", "*.jpg": "images, if they were downloaded"},
            licence="CC BY-SA 3.0",
            citation="Srinivasan, Raman, Chen, Bendersky, Najork: WIT. SIGIR 2021",
            url="https://github.com/google-research-datasets/wit",
            reader="captions:wit",
        ),
        Corpus(
            name="xflickrco",
            title="xFlickr&CO (IGLUE)",
            kind="manifest",
            images=True,
            about="captions in 8 languages of 2,000 images of Flickr30k and COCO",
            files={"*/test.jsonl": "captions by language (annotations/de/test.jsonl)", "*.jpg": "images"},
            licence="CC BY-SA 4.0; images: terms of Flickr30k and COCO",
            citation="Bugliarello, Liu, Pfeiffer, Reddy, Elliott, Ponti, Vulić: IGLUE. ICML 2022",
            url="https://github.com/e-bug/iglue",
            reader="captions:xflickrco",
        ),
        Corpus(
            name="multi30k",
            title="Multi30k, task 1",
            kind="manifest",
            images=True,
            about="image descriptions in English with translations into German, French and Czech",
            files={
                "task1/raw/*": "texts, a line each (train.de, or train.de.gz)",
                "image_splits/*.txt": "names of images, a line each",
            },
            licence="texts: not stated; images: research only",
            citation="Elliott, Frank, Sima'an, Specia: Multi30K. Workshop on Vision and Language 2016",
            url="https://github.com/multi30k/dataset",
            reader="lines:multi30k",
        ),
        Corpus(
            name="multi30k-task2",
            title="Multi30k, task 2",
            kind="manifest",
            images=True,
            about="five independent descriptions of an image in English, and five in German",
            files={
                "task2/raw/*": "texts, a line each (train.1.de, or train.1.de.gz)",
                "image_splits/*.txt": "names of images, a line each",
            },
            licence="texts: not stated; images: research only",
            citation="Elliott, Frank, Sima'an, Specia: Multi30K. Workshop on Vision and Language 2016",
            url="https://github.com/multi30k/dataset",
            reader="lines:multi30k_task2",
        ),
        Corpus(
            name="stair",
            title="STAIR Captions",
            kind="manifest",
            images=True,
            about="Japanese captions of the images of COCO; with captions_*.json of COCO English ones, too",
            files={
                "stair_captions*.json": "Japanese captions",
                "captions_*2014.json": "English captions of COCO, if they were downloaded",
                "*.jpg": "images",
            },
            licence="CC BY 4.0; images: terms of Flickr",
            citation="Yoshikawa, Shigeto, Takeuchi: STAIR Captions. ACL 2017",
            url="https://github.com/STAIR-Lab-CIT/STAIR-captions",
            reader="captions:stair",
        ),
        Corpus(
            name="coco",
            title="COCO captions",
            kind="manifest",
            images=True,
            about="five English captions of an image",
            files={"captions_*.json": "captions (captions_val2014.json)", "*.jpg": "images"},
            licence="CC BY 4.0; images: terms of Flickr",
            citation="Chen, Fang, Lin, Vedantam, Gupta, Dollár, Zitnick: Microsoft COCO Captions. 2015",
            url="https://cocodataset.org/",
            reader="captions:coco",
        ),
        Corpus(
            name="ikea",
            title="IKEA-Dataset",
            kind="manifest",
            images=True,
            about="product descriptions in English and German, English and French",
            files={
                "data.norm.tok.lc/*.norm.tok.lc.*": "texts in folders data.en.de and data.en.fr, a line each",
                "image.index/*_WMT_2017_images.txt": "names of images, a line each",
            },
            licence="MIT; texts of web shops",
            citation="Zhou, Cheng, Lee, Yu: A Visual Attention Grounding Neural Model … EMNLP 2018",
            url="https://github.com/sampalomad/IKEA-Dataset",
            reader="lines:ikea",
        ),
        Corpus(
            name="flores",
            title="FLORES-200",
            kind="manifest",
            about="sentences of Wikimedia articles, translated into 204 languages",
            files={
                "*_*.dev*": "sentences by language, a line each (devtest/deu_Latn.devtest)",
                "metadata_*.tsv": "articles of the sentences, which become clusters",
            },
            licence="CC BY-SA 4.0",
            citation="NLLB Team: No Language Left Behind. 2022; Goyal and others: FLORES-101. TACL 2022",
            url="https://github.com/facebookresearch/flores",
            reader="lines:flores",
        ),
        Corpus(
            name="tatoeba",
            title="Tatoeba (test set of LASER)",
            kind="manifest",
            about="up to 1,000 English sentences with translations, for each of 112 languages",
            files={
                "tatoeba.*-*.*": "sentences, a line each (tatoeba.deu-eng.deu and tatoeba.deu-eng.eng)",
                "*.txt": "or pairs, English first, a tab between (deu.txt)",
            },
            licence="CC BY 2.0 FR",
            citation="Artetxe, Schwenk: Massively Multilingual Sentence Embeddings … TACL 2019",
            url="https://github.com/facebookresearch/LASER/tree/main/data/tatoeba/v1",
            reader="lines:tatoeba",
        ),
        Corpus(
            name="bucc",
            title="BUCC 2018",
            kind="manifest",
            about="two comparable corpora of sentences, of which few are translations",
            files={
                "*.gold": "pairs of ids (fr-en.training.gold)",
                "*-en.*.*": "sentences with ids (fr-en.training.fr, fr-en.training.en)",
            },
            licence="not stated",
            citation="Zweigenbaum, Sharoff, Rapp: Overview of the Third BUCC Shared Task. 2018",
            url="https://comparable.limsi.fr/bucc2018/bucc2018-task.html",
            reader="lines:bucc",
        ),
        Corpus(
            name="xquad",
            title="XQuAD",
            kind="pool",
            about="questions on 240 paragraphs in 11 languages or more, all translations",
            files={"xquad.*.json": "SQuAD-style files, one for each language"},
            licence="CC BY-SA 4.0",
            citation="Artetxe, Ruder, Yogatama: On the Cross-lingual Transferability … ACL 2020",
            url="https://github.com/google-deepmind/xquad",
            reader="questions:xquad",
        ),
        Corpus(
            name="mlqa",
            title="MLQA",
            kind="pool",
            split="test",
            about="questions on paragraphs of Wikipedia in 7 languages, in part parallel",
            files={"*-context-*-question-*.json": "SQuAD-style files; those of one language are read"},
            licence="CC BY-SA 3.0",
            citation="Lewis, Oğuz, Rinott, Riedel, Schwenk: MLQA. ACL 2020",
            url="https://github.com/facebookresearch/MLQA",
            reader="questions:mlqa",
        ),
        Corpus(
            name="miracl",
            title="MIRACL",
            kind="pool",
            split="dev",
            about="queries of native speakers, and passages of Wikipedia, in 18 languages",
            files={
                "topics.miracl-*.tsv": "queries (miracl-v1.0-sw/topics/topics.miracl-v1.0-sw-dev.tsv)",
                "qrels.miracl-*.tsv": "judgements, of the same name",
                "miracl-corpus-*/docs-*": "passages (miracl-corpus-v1.0-sw/docs-0.jsonl.gz)",
            },
            licence="Apache 2.0; passages: CC BY-SA (Wikipedia)",
            citation="Zhang and others: MIRACL. TACL 2023",
            url="https://github.com/project-miracl/miracl",
            reader="questions:miracl",
        ),
        Corpus(
            name="sts17",
            title="STS 2017 (SemEval task 1)",
            kind="pairs",
            about="sentence pairs with scores, in one language and across two",
            files={
                "STS.input.track*.txt": "pairs, with the scores in STS.gs.track*.txt",
                "*-*.jsonl.gz": "or as MTEB has them (en-de.jsonl.gz; .jsonl, .parquet)",
            },
            licence="not stated",
            citation="Cer, Diab, Agirre, Lopez-Gazpio, Specia: SemEval-2017 Task 1. 2017",
            url="https://alt.qcri.org/semeval2017/task1/",
            reader="pairs:sts17",
        ),
        Corpus(
            name="sts22",
            title="STS 2022 (SemEval task 8)",
            kind="pairs",
            about="pairs of news articles with scores, in one language and across two",
            files={"*.jsonl.gz": "as MTEB has them, with texts (de-en.jsonl.gz; .jsonl, .parquet)"},
            licence="not stated",
            citation="Chen and others: SemEval-2022 Task 8: Multilingual News Article Similarity. 2022",
            url="https://huggingface.co/datasets/mteb/sts22-crosslingual-sts",
            reader="pairs:sts22",
        ),
    )
}


def corpus_of(name: str) -> Corpus:
    """Return the corpus of a name; raise InputError, with the nearest one, where there is none."""
    if name not in CORPORA:
        raise InputError(
            f"no corpus {name!r:.40} is known.{did_you_mean(name, CORPORA)} Known: {listed(CORPORA, 40)}"
        )
    return CORPORA[name]
