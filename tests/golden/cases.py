"""The cases of the golden values, on data that stay, with vectors from files where it can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from tests import program
from tests.program import Findings, command

from xlingual import SparseVectors, TokenVectors

IKEA_ENCODERS = ("ridge_2860", "minilm_ibm1_1000", "wordvec_identical", "cllsa_2860")


@dataclass(frozen=True)
class Case:
    """A named step: the folders of data it needs, its tolerance, whether the fast subset has it."""

    name: str
    make: Callable[[Bench], Findings]
    needs: tuple[str, ...] = ()
    tolerance: str = "exact"
    fast: bool = False
    whole: bool = False  # store queries one by one, not digests of all of a group


CASES: dict[str, Case] = {}


def case(*needs: str, **options: Any) -> Callable[[Any], Any]:
    """Register a function of the bench as a case, under its own name with dashes."""

    def register(make: Any) -> Any:
        name = make.__name__.replace("_", "-")
        CASES[name] = Case(name, make, needs, **options)
        return make

    return register


class Words:
    """An encoder of words as sparse rows with dot products: their counts in hashed columns."""

    def encode(self, texts: list[str]) -> SparseVectors:
        from scipy.sparse import csr_array

        cells = [
            [(i, crc32(word.encode()) % 4096) for word in text.lower().split()]
            for i, text in enumerate(texts)
        ]
        rows, columns = (np.array([c[k] for row in cells for c in row], dtype=np.int64) for k in (0, 1))
        counts = np.ones(len(rows), dtype=np.float32)
        return SparseVectors.of(csr_array((counts, (rows, columns)), shape=(len(texts), 4096)), "dot")


class WordTokens:
    """An encoder of words as token vectors for MaxSim: a vector of small whole numbers for each word."""

    def encode(self, texts: list[str]) -> TokenVectors:
        return TokenVectors.of([self._vectors(text) for text in texts], "maxsim", dim=8)

    def _vectors(self, text: str) -> np.ndarray:
        hashes = [crc32(word.encode()) for word in text.lower().split()]
        return np.array([[(h >> 4 * k) % 16 - 7 for k in range(8)] for h in hashes], np.float32).reshape(
            -1, 8
        )


def together(parts: Mapping[str, Findings]) -> Findings:
    """Return the rows of several findings, each with its name in front of its views."""
    return Findings(
        [row._replace(view=f"{name}.{row.view}") for name, part in parts.items() for row in part.rows]
    )


@dataclass(frozen=True)
class Bench:
    """Where real data are, a folder to work in, and what several cases share, made when first asked for."""

    data: Path
    folder: Path

    @cached_property
    def scenes(self) -> Path:
        """120 scenes in three languages."""
        assert (
            command(
                "data", "scenes", "--n", "120", "--languages", "en,de,es", "--out", self.folder / "s"
            ).code
            == 0
        )
        return self.folder / "s"

    @cached_property
    def planted(self) -> dict[str, str]:
        """Vectors of the scenes: of images, and of texts that are near to them or far; some are equal."""
        rng, folder = np.random.default_rng(0), self.folder / "planted"
        folder.mkdir()
        ideal = rng.standard_normal((120, 16))
        np.save(folder / "img.npy", ideal.astype(np.float32))
        for name, noise in (("good", 0.3), ("middle", 1.0), ("bad", 5.0), ("equal", 0.5)):
            for language in ("en", "de", "es"):
                vectors = ideal + noise * rng.standard_normal(ideal.shape)
                vectors = np.round(vectors) if name == "equal" else vectors
                vectors[::7] = vectors[0] if name == "equal" else vectors[::7]
                np.save(folder / f"{name}.{language}.npy", vectors.astype(np.float32))
        names = ("good", "middle", "bad", "equal")
        return {"img": f"{folder}/img.npy"} | {
            name: f"vectors:{folder}/{name}.{{lang}}.npy" for name in names
        }

    @cached_property
    def scenes_bkr(self) -> Findings:
        """Backretrieval of planted vectors, in three samples."""
        encoders = {name: self.planted[name] for name in ("good", "bad", "equal")}
        measures = ("R@10%", "Success@5", "RR", "MedR")
        more = {"seeds": 3, "sample": 40, "measures": measures, "out": self.folder / "scenes-bkr"}
        return program.evaluate(
            "backretrieval", self.scenes, encoders, image_encoder=f"vectors:{self.planted['img']}", **more
        )

    def ikea(self, task: str, *names: str, **options: Any) -> Findings:
        """Evaluate on IKEA, in the first five of its fixed samples unless there are other options."""
        folder = self.data / "ikea"
        few = self.folder / "few.npz"
        if not few.exists():
            splits = np.load(folder / "embeddings" / "splits.npz")
            np.savez(few, **{key: splits[key][:5] for key in splits.files})
        encoders: dict[str, Any] = {
            name: f"vectors:{folder}/embeddings/{name}.{{lang}}.npy" for name in names or IKEA_ENCODERS
        }
        encoders |= {} if names else {"random": "random"}
        options = {"sample": few, "pairs": "en-de,de-en", **options}
        if task in ("backretrieval", "distance-correlation"):
            options["image_encoder"] = f"vectors:{folder}/ikea_en_de_eval_features.npy"
        return program.evaluate(task, folder / "ikea_en_de_eval.parquet", encoders, **options)

    @cached_property
    def ikea_backretrieval(self) -> Findings:
        measures = ("R@10", "RR", "MedR", "R@1")
        return self.ikea("backretrieval", measures=measures, out=self.folder / "ikea-bkr")

    @cached_property
    def ikea_retrieval(self) -> Findings:
        measures = ("R@10", "RR", "MedR", "R@1")
        return self.ikea("crosslingual-retrieval", measures=measures, out=self.folder / "ikea-xlr")

    @cached_property
    def emoji(self) -> dict[str, Any]:
        """Options for emoji with vectors of real encoders."""
        vectors = self.data / "real_encoders" / "emoji"
        return {
            "data": self.data / "emoji" / "emoji.parquet",
            "encoders": {
                name: f"vectors:{vectors}/{name}.{{lang}}.npy" for name in ("muse_v3", "e5_small_q4")
            },
            "columns": {"text_column": "name_{lang}", "image_column": "image_png"},
            "image_encoder": f"vectors:{vectors}/efficientnet_lite0.npy",
        }

    def emoji_evaluation(self, task: str, pairs: str, **options: Any) -> Findings:
        """Evaluate the real encoders on emoji."""
        if task == "backretrieval":
            options["image_encoder"] = self.emoji["image_encoder"]
        return program.evaluate(
            task, self.emoji["data"], self.emoji["encoders"], pairs=pairs, **options, **self.emoji["columns"]
        )

    @cached_property
    def emoji_bkr(self) -> Findings:
        return self.emoji_evaluation("backretrieval", "en-de,ja-ru,ar-en", sample=400, seeds=2)

    @cached_property
    def pool(self) -> Path:
        """XQuAD-R as a pool, half of its articles for training."""
        words = (
            "data",
            "squad-to-pool",
            self.data / "xquad_r",
            "--train",
            "0.5",
            "--out",
            self.folder / "pool",
        )
        assert command(*words).code == 0
        return self.folder / "pool"

    @cached_property
    def small_pool(self) -> Path:
        """A pool mixed of scenes."""
        words = (
            "--mix",
            "en=3,de=1",
            "--question-languages",
            "en,de",
            "--seed",
            "1",
            "--out",
            self.folder / "mixed",
        )
        assert command("data", "mix-pool", self.scenes, *words).code == 0
        return self.folder / "mixed"

    @cached_property
    def test_pool(self) -> Any:
        """Seven languages of the pool's test half."""
        return program.pool(self.pool, "ar,de,en,es,hi,ru,zh", "test")

    @cached_property
    def pool_results(self) -> Findings:
        encoders = {"chars": "chargram", "random": "random:?dim=256"}
        measures = ("AP", "R@10", "Success@10", "RR")
        return program.evaluate(
            "multilingual-pool", self.test_pool, encoders, measures=measures, subsets=["de,en"]
        )

    def part(self, n: int, begin: int, name: str) -> Path:
        """Write n of the n-best lists of Multi30k's validation data, and their texts; return the folder."""
        source, out = self.data / "nbest_multi30k", self.folder / name
        out.mkdir()
        with (source / "val.nbest").open(encoding="utf-8") as file:
            lines = list(islice(file, begin * 20, (begin + n) * 20))
        moved = (f"{int(line.split(' ', 1)[0]) - begin} {line.split(' ', 1)[1]}" for line in lines)
        (out / "nbest").write_text("".join(moved), encoding="utf-8")
        (out / "first").write_text(
            "".join(line.split(" ||| ")[1] + "\n" for line in lines[::20]), encoding="utf-8"
        )
        for language in ("en", "de"):
            with (source / f"val.{language}").open(encoding="utf-8") as file:
                (out / language).write_text("".join(islice(file, begin, begin + n)), encoding="utf-8")
        return out


# scenes: small, with planted vectors, in the fast subset


@case(fast=True)
def scenes_backretrieval(bench: Bench) -> Findings:
    return bench.scenes_bkr


@case(fast=True, whole=True)
def scenes_retrieval(bench: Bench) -> Findings:
    encoders = {name: bench.planted[name] for name in ("good", "bad", "equal")}
    options = {"sample": 40, "measures": ("R@10", "RR"), "pairs": "en-de,es-en"}
    return program.evaluate("crosslingual-retrieval", bench.scenes, encoders, **options)


@case(fast=True)
def scenes_ties(bench: Bench) -> Findings:
    """Different vectors of ±1: among few dimensions most candidates tie, among many a few do."""
    rng, folder, encoders = np.random.default_rng(1), bench.folder / "signs", {}
    folder.mkdir()
    for dim in (8, 1024):
        for language in ("en", "de", "es"):
            signs = np.sign(rng.standard_normal((120, dim)))
            np.save(folder / f"{dim}.{language}.npy", signs.astype(np.float32))
        encoders[f"signs-{dim}"] = f"vectors:{folder}/{dim}.{{lang}}.npy"
    measures, images = ("R@10", "RR", "MedR"), f"vectors:{bench.planted['img']}"
    return together(
        {
            "xlr": program.evaluate("crosslingual-retrieval", bench.scenes, encoders, measures=measures),
            "bkr": program.evaluate("backretrieval", bench.scenes, encoders, image_encoder=images),
        }
    )


@case(fast=True)
def scenes_queries(bench: Bench) -> Findings:
    encoders = {"good": bench.planted["good"], "chars": "chargram"}
    return program.evaluate(
        "backretrieval", bench.scenes, encoders, image_encoder="pixels", queries=30, pairs="en-de"
    )


@case(fast=True)
def scenes_matching_bank(bench: Bench) -> Findings:
    """CSLS and inverted softmax, with the training half as a bank."""
    bank, parts = f"fit={bench.scenes}#train", {}
    for similarity in ("csls?k=5", "inverted-softmax?beta=20"):
        options = {"similarity": f"{similarity}&{bank}", "split": "test", "measures": ("R@10", "RR")}
        for task, more in (("crosslingual-retrieval", {}), ("backretrieval", {"image_encoder": "pixels"})):
            encoders = {"chars": f"chargram:?{bank}"}
            parts[f"{task}.{similarity}"] = program.evaluate(task, bench.scenes, encoders, **options, **more)
    return together(parts)


@case(fast=True)
def scenes_sparse(bench: Bench) -> Findings:
    encoders = {"words": Words(), "bm25": f"bm25:?fit={bench.scenes}#train"}
    return program.evaluate("crosslingual-retrieval", bench.scenes, encoders, pairs="en-es", split="test")


@case(fast=True)
def scenes_tokens(bench: Bench) -> Findings:
    options = {"pairs": "en-es,de-en", "split": "test", "image_encoder": "pixels"}
    return program.evaluate("backretrieval", bench.scenes, {"tokens": WordTokens()}, **options)


@case(fast=True)
def scenes_images(bench: Bench) -> Findings:
    """Image–sentence ranking, with folds and a baseline."""
    encoders = {name: bench.planted[name] for name in ("good", "middle", "bad")}
    options = {"image_encoders": f"vectors:{bench.planted['img']}", "baselines": "bad"}
    whole = program.evaluate("image-sentence", bench.scenes, encoders, **options)
    measures = ("RR", "MedR", "R@1")
    folds = program.evaluate("image-sentence", bench.scenes, encoders, fold=40, measures=measures, **options)
    return Findings(together({"whole": whole, "folds": folds}).rows, whole.tables)


@case(fast=True)
def captions(bench: Bench) -> Findings:
    """Forty items with three texts in each of two languages: ties, and several right answers."""
    lines = [
        f'{{"id": "{tag}{i}.{k}", "lang": "{tag}", "item": {i}, "text": "{number} {word} on page {i * k}"}}\n'
        for i in range(40)
        for tag, number in (("en", "three small red"), ("de", "drei kleine rote"))
        for k, word in enumerate(("chairs", "lamps", "radios"))
    ]
    path = bench.folder / "captions.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return program.evaluate("crosslingual-retrieval", path, {"chars": "chargram", "random": "random"})


@case(fast=True)
def mixed_pool(bench: Bench) -> Findings:
    encoders = {"chars": "chargram", "tokens": WordTokens()}
    return program.evaluate("multilingual-pool", bench.small_pool, encoders)


@case(fast=True)
def mixed_pool_judged(bench: Bench) -> Findings:
    """Judged retrieval of vectors, of sparse rows and of a run that the program wrote."""
    encoders, measures = {"chars": "chargram", "words": Words()}, ("nDCG@10", "AP", "R@10", "RR@10")
    first = program.evaluate(
        "retrieval", bench.small_pool, encoders, measures=measures, trec=bench.folder / "trec", trec_depth=20
    )
    run = next(path for path in sorted((bench.folder / "trec").rglob("*.run")) if "chars" in path.name)
    again = program.evaluate(
        "retrieval", bench.small_pool, runs={"engine": run}, measures=measures, ties="trec"
    )
    return Findings([*first.rows, *again.rows], first.tables)


@case(fast=True)
def scenes_compare(bench: Bench) -> Findings:
    return program.compare(bench.scenes_bkr, per_pair=True, margin=0.05)


@case()
def scenes_inspect(bench: Bench) -> Findings:
    return program.inspect(bench.scenes_bkr, bench.scenes, measure="R@5", image_encoder="pixels")


@case(fast=True)
def scenes_history(bench: Bench) -> Findings:
    encoders = {"now": "equal", "then": "good"}
    parts = {
        label: program.evaluate(
            "backretrieval",
            bench.scenes,
            {"model": bench.planted[name]},
            image_encoder=f"vectors:{bench.planted['img']}",
            sample=40,
        )
        for label, name in encoders.items()
    }
    return program.history(
        bench.folder / "history", {"v1": parts["now"], "v2": parts["then"], "v3": parts["then"]}
    )


@case(fast=True)
def scenes_study(bench: Bench) -> Findings:
    """Three raters, who mostly prefer the first system."""
    systems = {"chars": "chargram", "good": bench.planted["good"]}
    options = ("--source", "en", "--target", "de", "--queries", "8", "--per-system", "3", "--repeats", "0.3")
    images = ("--controls", "0.5", "--image-encoder", f"vectors:{bench.planted['img']}")
    shown = program.study(bench.folder / "study", bench.scenes, systems, *options, *images)
    ratings = [
        {
            **page,
            "rater": rater,
            "score": 1
            + crc32(f"{rater} {page['suggestion']}".encode()) % 3
            + ("chars" not in page["systems"]),
        }
        for rater in (1, 2, 3)
        for page in shown
    ]
    return program.study_analysis(bench.folder / "study", ratings, "--replicates", "499")


@case(fast=True)
def scenes_suite(bench: Bench) -> Findings:
    text = f"""
[encoders]
chars = "chargram"
random = "random"
[data.scenes]
manifest = "{bench.scenes}"
split = "test"
image-encoder = "pixels"
[tasks.bkr]
[tasks.xlr]
[gates.ship]
candidate = "chars"
baseline = "random"
margin = 0.01
"""
    path = bench.folder / "suite.toml"
    path.write_text(text, encoding="utf-8")
    code, results = program.suite(path, bench.folder / "suite")
    return Findings([*together(results).rows, *program.rows_of({"exit_code": code})])


# IKEA: real texts and images, vectors and samples from files


@case("ikea")
def ikea_backretrieval(bench: Bench) -> Findings:
    return bench.ikea_backretrieval


@case("ikea", fast=True)
def ikea_retrieval(bench: Bench) -> Findings:
    return bench.ikea_retrieval


@case("ikea")
def ikea_samples(bench: Bench) -> Findings:
    """Means over all 25 samples, with and without near-duplicates as clusters."""
    splits, parts = bench.data / "ikea" / "embeddings" / "splits.npz", {}
    for task in ("backretrieval", "crosslingual-retrieval", "distance-correlation"):
        for cluster in ("declared", "near-duplicates")[: 1 if task == "distance-correlation" else 2]:
            options = {} if task == "distance-correlation" else {"cluster": cluster}
            parts[f"{task}.{cluster}"] = bench.ikea(task, sample=splits, **options)
    return Findings([row for row in together(parts).rows if row.seed == "mean"])


@case("ikea")
def ikea_correlation(bench: Bench) -> Findings:
    return bench.ikea("distance-correlation")


@case("ikea")
def ikea_validation(bench: Bench) -> Findings:
    folder = bench.data / "ikea"
    return program.validate(
        folder / "ikea_en_de_eval.parquet",
        f"{folder}/embeddings/*.{{lang}}.npy",
        image_encoder=f"vectors:{folder}/ikea_en_de_eval_features.npy",
        sample=folder / "embeddings" / "splits.npz",
        pairs="en-de",
        family="^[a-z]+",
    )


@case("ikea")
def ikea_validation_drawn(bench: Bench) -> Findings:
    folder = bench.data / "ikea"
    return program.validate(
        folder / "ikea_en_de_eval.parquet",
        [f"{name}=vectors:{folder}/embeddings/{name}.{{lang}}.npy" for name in IKEA_ENCODERS],
        image_encoder=f"vectors:{folder}/ikea_en_de_eval_features.npy",
        pairs="en-de",
        seeds=3,
        sample=200,
    )


@case("ikea")
def ikea_compare(bench: Bench) -> Findings:
    whole = program.compare(bench.ikea_backretrieval, margin=0.05)
    two = program.only(bench.ikea_backretrieval, "ridge_2860", "wordvec_identical")
    strict = program.compare(two, correction="bh", alpha=0.01, measures=("RR", "SIM"), per_pair=True)
    other = program.compare(
        bench.ikea_retrieval, baseline=program.only(bench.ikea_retrieval, "random").record
    )
    return together({"whole": whole, "strict": strict, "baseline": other})


@case("ikea")
def ikea_gates(bench: Bench) -> Findings:
    def decide(candidate: str, baseline: str, **options: Any) -> Findings:
        results = bench.ikea_backretrieval
        return program.gate(program.only(results, candidate), program.only(results, baseline), **options)

    return together(
        {
            "worse": decide("ridge_2860", "wordvec_identical", margin=0.01),
            "random": decide("random", "ridge_2860", margin=0.01),
            "pairs": decide("cllsa_2860", "wordvec_identical", margin=0.02, per_pair=True),
            "rr": decide("cllsa_2860", "wordvec_identical", margin=0.02, measure="RR"),
        }
    )


@case("ikea")
def ikea_plan(bench: Bench) -> Findings:
    return program.plan(bench.ikea_backretrieval, effect=0.05, queries=(500, 2000))


@case("ikea")
def ikea_inspect(bench: Bench) -> Findings:
    data = bench.data / "ikea" / "ikea_en_de_eval.parquet"
    return program.inspect(bench.ikea_retrieval, data, encoders=["ridge_2860"])


@case("ikea", "emoji", "real_encoders")
def leaderboard(bench: Bench) -> Findings:
    return program.leaderboard(
        {"ikea-bkr": bench.ikea_backretrieval, "ikea-xlr": bench.ikea_retrieval, "emoji": bench.emoji_bkr}
    )


# emoji: real encoders in six languages


@case("emoji", "real_encoders", fast=True)
def emoji_backretrieval(bench: Bench) -> Findings:
    return bench.emoji_bkr


@case("emoji", "real_encoders")
def emoji_retrieval(bench: Bench) -> Findings:
    pairs = "en-de,de-en,en-es,ja-ru,ar-en,ru-ja"
    measures = ("R@10", "Success@1", "RR", "MedR")
    return bench.emoji_evaluation("crosslingual-retrieval", pairs, measures=measures)


@case("emoji", "real_encoders", fast=True)
def emoji_by_group(bench: Bench) -> Findings:
    return program.compare(bench.emoji_bkr, by=["group"])


@case("emoji", "real_encoders", tolerance="fitted")
def emoji_repair(bench: Bench) -> Findings:
    import pyarrow.parquet as pq

    table, n = pq.read_table(bench.emoji["data"]), 500
    names = {tag: f"text_{tag}" for tag in ("en", "de", "ja")}
    part = table.select(["id", *(f"name_{tag}" for tag in names)]).rename_columns(["id", *names.values()])
    pq.write_table(part.slice(0, n), bench.folder / "emoji.parquet")
    for tag in names:
        vectors = np.load(bench.data / "real_encoders" / "emoji" / f"e5_small_q4.{tag}.npy")
        np.save(bench.folder / f"e5.{tag}.npy", vectors[:n])
    return program.repair(bench.folder / "emoji.parquet", f"vectors:{bench.folder}/e5.{{lang}}.npy")


@case("emoji", "real_encoders", tolerance="fitted")
def emoji_pivot(bench: Bench) -> Findings:
    emoji = bench.emoji
    options = {"languages": ["en", "de"], "rows": "0:700", "judge": "pixels", **emoji["columns"]}
    return program.pivot(emoji["data"], emoji["encoders"]["e5_small_q4"], emoji["image_encoder"], **options)


# XQuAD-R in seven languages, STS, n-best lists


@case("xquad_r")
def pool_bias(bench: Bench) -> Findings:
    return bench.pool_results


@case("xquad_r")
def pool_context(bench: Bench) -> Findings:
    options = {"candidate_text": "sentence+context", "cluster": "near-duplicates"}
    pool = program.pool(bench.pool, "en,zh", "test")
    return program.evaluate(
        "multilingual-pool", pool, {"chars": "chargram"}, measures=("AP", "AP@20/min"), **options
    )


@case("xquad_r")
def pool_compare(bench: Bench) -> Findings:
    compared = program.compare(bench.pool_results, by=["language"])
    gates = program.gate(
        program.only(bench.pool_results, "chars"),
        program.only(bench.pool_results, "random"),
        margin=0.01,
        by="language",
    )
    return together({"compare": compared, "gate": gates})


@case("xquad_r")
def pool_inspect(bench: Bench) -> Findings:
    return program.inspect(program.only(bench.pool_results, "chars"), bench.test_pool)


@case("sts_images", fast=True)
def sts(bench: Bench) -> Findings:
    files = [bench.data / "sts_images" / f"sts{year}_images.parquet" for year in (2014, 2015)]
    encoders = {"chars": "chargram", "small": "chargram:?n=3&dim=64", "random": "random"}
    return program.evaluate("sts", files, encoders, language="en", baseline="random")


@case("nbest_multi30k", fast=True)
def rerank(bench: Bench) -> Findings:
    """Features, tuning by MIRA, choice and scores on thirty lists each."""
    rows, words = (
        [],
        ("--text-encoder", "letters=chargram", "--source-language", "en", "--target-language", "de"),
    )
    for name, begin in (("dev", 0), ("test", 30)):
        part = bench.part(30, begin, name)
        features = program.rerank(
            "features", part / "nbest", "--source", part / "en", *words, "--out", part / "more"
        )
        assert features.code == 0, features.err
        lines = (part / "more").read_text("utf-8").splitlines()
        values = [float(line.split("letters= ")[1].split()[0]) for line in lines]
        rows += program.rows_of({name: {"lines": len(lines), "letters": values[:40]}})
    dev, test = bench.folder / "dev", bench.folder / "test"
    weights = bench.folder / "weights.json"
    tuned = program.printed(
        *("rerank", "tune", dev / "more", "--references", dev / "de", "--epochs", "5", "--folds", "5"),
        *("--out", weights),
    )
    best = []
    for tuning in (0, 1):
        best.append(bench.folder / f"best.{tuning}")
        chosen = ("--weights", weights, "--tuning", str(tuning), "--out", best[-1])
        assert program.rerank("apply", test / "more", *chosen).code == 0
    more = ("--samples", "100", "--baseline", test / "first", "--nbest", test / "more")
    scores = program.printed("rerank", "score", *best, "--references", test / "de", *more, "--language", "de")
    return Findings([*rows, *tuned.rows, *scores.rows])


# short trainings


@case(tolerance="trained")
def train_mlmme(bench: Bench) -> Findings:
    sizes = ("--word-dim", "8", "--state-dim", "8", "--joint-dim", "8", "--batch", "32", "--epochs", "2")
    images = (
        "--languages",
        "en,de",
        "--image-encoder",
        f"vectors:{bench.planted['img']}",
        "--validation",
        "0.2",
    )
    return program.train("mlmme", bench.scenes, bench.folder / "mlmme", *sizes, *images)


def _triplet(bench: Bench, recipe: str, *more: str) -> Findings:
    words = ("--split", "train", "--text-encoder", f"lsa:?dim=16&fit={bench.scenes}#test", "--epochs", "2")
    return program.train("triplet", bench.scenes, bench.folder / recipe, *words, "--out-dim", "16", *more)


@case(tolerance="trained")
def train_triplet(bench: Bench) -> Findings:
    return _triplet(bench, "triplet")


@case(tolerance="trained")
def train_triplet_xl(bench: Bench) -> Findings:
    return _triplet(bench, "triplet-xl", "--beta", "0.01")


@case(tolerance="trained")
def train_dual_encoder(bench: Bench) -> Findings:
    words = ("--epochs", "2", "--dim", "8", "--buckets", "64", "--validation", "0.3")
    return program.train("dual-encoder", bench.small_pool, bench.folder / "dual", *words)
