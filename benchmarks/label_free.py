"""Choosing a repair without translations: how label-free criteria agree with the truth.

For encoders of four data sets and some splits, every transform that `repair` tries without translations is
fitted on one part, each criterion is counted on another, and mAP over the pool on a third is the truth. Fit
and criteria are done twice: on texts of which no two mean the same ("apart": each cluster is kept in one
language, drawn at random), and on all texts, whose translations are there but not used ("together"). Where
topics are known, a third time on texts whose topics differ by language ("topics": each topic is kept in one
language), which is what the criteria cannot know.
`python -m benchmarks label_free` writes docs/results/label-free.json; what was measured before is kept there,
so that a run that was stopped goes on.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from msgspec.structs import asdict

from benchmarks.experiments import table
from xlingual import DataWarning, Manifest, MultilingualPool
from xlingual.data.pools.mix import mix_pool
from xlingual.data.pools.reading import read_pool
from xlingual.data.pools.splitting import split_pool
from xlingual.embed import load_fit_texts
from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.ranking import CPU
from xlingual.repair.candidates import steps
from xlingual.repair.search import PLAIN, fitted
from xlingual.transforms.moments import FitData
from xlingual.workflows.places import Places
from xlingual.workflows.repairing.label_free import Unlabelled
from xlingual.workflows.repairing.parts import PartVectors, three_parts
from xlingual.workflows.repairing.repaired import _whole

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
OUT = Path("docs/results/label-free.json")
SEEDS = range(int(os.environ.get("SEEDS", "4")))
WAYS = ("apart", "together", "topics")
SHARES = (0.4, 0.3, 0.3)
IKEA = (
    "cllsa_50",
    "cllsa_200",
    "procrustes_50",
    "procrustes_200",
    "minilm_ibm1_1000",
    "clesa_200",
    "mixlsa_char",
    "wordvec_identical",
    "charhash_3_3",
    "monolsa_unaligned",
)
EMOJI = ("de", "en", "es", "fr", "id", "it", "pt", "tr", "vi")


@dataclass(frozen=True)
class Problem:
    """Data and an encoder of their texts."""

    data: str
    encoder: str
    source: Manifest | MultilingualPool
    spec: str
    topics: Mapping[str, Any] | None = None  # of a question's id


def problems(folder: Path) -> Iterator[Problem]:
    """Yield data and encoders; encoders are fitted on other texts than those of the data."""
    whole = MultilingualPool.of(split_pool(read_pool(DATA / "xquad_r"), 0.25))
    whole.write(folder / "pool")
    test = MultilingualPool.read(folder / "pool", split="test")
    assert test.questions.article is not None
    articles = dict(zip(test.questions.ids, test.questions.article.tolist(), strict=True))
    for name, spec in {"chargram": "chargram:?dim=256", "lsa": "lsa:?dim=150"}.items():
        yield Problem("XQuAD-R", name, test, f"{spec}&fit={folder / 'pool'}#train", articles)
    ikea = Manifest.read(DATA / "ikea/ikea_en_de_eval.parquet")
    for name in IKEA:
        yield Problem("IKEA", name, ikea, str(DATA / f"ikea/embeddings/{name}.{{lang}}.npy"))
    emoji = folder / "emoji.jsonl"
    groups = _write_emoji(emoji)
    names = Manifest.read(emoji, split="test")
    for name, spec in {"chargram": "chargram:?dim=256", "lsa": "lsa:?dim=100"}.items():
        yield Problem("emoji", name, names, f"{spec}&fit={emoji}#train", groups)
    captions = DATA / "multi30k/task1_val.parquet"
    train = DATA / "multi30k/task1_train.parquet"
    several = Manifest.read(captions)
    for pairs in (300, 3000):
        spec = f"lsa:?pairs={pairs}&dim=150&fit={train}#0:6000"
        yield Problem("multi30k", f"lsa {pairs}", several, spec)
    yield Problem("multi30k", "chargram", several, f"chargram:?dim=256&fit={train}#0:6000")


def _write_emoji(path: Path) -> dict[str, str]:
    """Write name and keywords of each emoji as one text for each language; one in four is to fit encoders.

    Return the subgroup of each emoji.
    """
    import pyarrow.parquet as pq

    rows = pq.read_table(DATA / "emoji/emoji.parquet").to_pylist()
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            split = "train" if number % 4 == 0 else "test"
            for tag in EMOJI:
                text = f"{row[f'name_{tag}'] or ''} {row[f'keywords_{tag}'] or ''}".replace("|", " ").strip()
                line = {"id": f"{row['id']}-{tag}", "item": row["id"], "lang": tag, "text": text}
                file.write(json.dumps(line | {"split": split}) + "\n")
    return {row["id"]: row["subgroup"] for row in rows}


def measured(part: Problem, seed: int, kept: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield for each way to fit what was found of every transform."""
    ways = [way for way in WAYS if way != "topics" or part.topics is not None]
    keys = {way: f"{part.data}|{part.encoder}|{seed}|{way}" for way in ways}
    if all(key in kept for key in keys.values()):
        yield from (kept[key] for key in keys.values())
        return
    pool = mix_pool(part.source, seed=seed) if isinstance(part.source, Manifest) else part.source
    (encoder,) = text_encoders(
        {part.encoder: part.spec},
        languages=list(pool.languages),
        role_languages=pool.role_languages,
        fit_texts=load_fit_texts,
    ).values()
    whole = _whole(
        part.source,
        Places.of(part.source),
        part.encoder,
        encoder,
        "sentence",
        {"store": None, "progress": None},
    )
    fit, choose, test = (whole.part(each) for each in three_parts(pool, SHARES, seed, "paragraph"))
    for way, key in keys.items():
        if key in kept:
            yield kept[key]
            continue
        began = time.perf_counter()
        rows = list(_transforms(fit, choose, test, partial(_texts, way=way, seed=seed, topics=part.topics)))
        yield {
            "key": key, "data": part.data, "encoder": part.encoder, "seed": seed, "way": way,
            "texts": [len(_texts(each, way, seed, part.topics)[1]) for each in (fit, choose)],
            "questions": len(test.pool.questions), "seconds": round(time.perf_counter() - began, 1),
            "transforms": {name: [row[name] for row in rows] for name in rows[0]},
        }  # fmt: skip


def _transforms(
    fit: PartVectors,
    choose: PartVectors,
    test: PartVectors,
    texts_of: Callable[[PartVectors], tuple[np.ndarray, list[str], np.ndarray]],
) -> Iterator[dict[str, Any]]:
    vectors, languages, _ = texts_of(fit)
    fitting = FitData(vectors, languages)
    unlabelled = Unlabelled.of_known(*texts_of(choose))
    for each in [(), *steps(vectors.shape[1], len(set(languages)), translations=False)]:
        spec = "::".join(step.spec for step in reversed(each)) or PLAIN
        try:
            map = fitted(fitting, each)
        except InputError:
            continue
        numbers = asdict(unlabelled.criteria(map))
        numbers.pop("value")  # of others
        found = {name: None if value is None else round(value, 5) for name, value in numbers.items()}
        yield {"spec": spec, "mAP": round(float(test.precision(map, CPU).mean()), 5), **found}


def _texts(
    part: PartVectors, way: str, seed: int, topics: Mapping[str, Any] | None
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return vectors, languages and clusters of the texts of a part: all, or of each cluster one language."""
    pool = part.pool
    vectors = np.concatenate([part.questions, part.candidates])
    code = np.concatenate([pool.questions.language, pool.candidates.language])
    cluster = np.concatenate([pool.questions.cluster, pool.candidates.cluster])
    rng = np.random.default_rng(seed)
    dealt = np.full(int(cluster.max()) + 1, -1)  # the language of each cluster
    if way == "apart":
        clusters = np.unique(cluster)
        dealt[clusters] = rng.permutation(len(clusters)) % len(pool.languages)
    elif way == "topics" and topics is not None:
        names = sorted(set(topics.values()))
        tag_of = dict(zip(names, rng.permutation(len(names)) % len(pool.languages), strict=True))
        dealt[pool.questions.cluster] = [tag_of[topics[own]] for own in pool.questions.ids]
    rows = np.arange(len(code)) if way == "together" else np.flatnonzero(dealt[cluster] == code)
    return vectors[rows], [pool.languages[own] for own in code[rows]], cluster[rows]


Columns = dict[str, list[Any]]  # of the transforms
Rule = Callable[[Columns], np.ndarray]  # a score of each transform, the higher the better


def _column(name: str, sign: int = 1) -> Rule:
    return lambda rows: sign * np.array(rows[name], dtype=float)


def _subject_to(rule: Rule, least: float) -> Rule:
    """Return the rule among transforms that keep so much of the neighbourhoods; others rank below them."""

    def limited(rows: Columns) -> np.ndarray:
        kept = _column("neighbourhoods_kept")(rows)
        return np.where(kept >= least, rule(rows), -1e6 + kept)

    return limited


def _fixed(spec: str) -> Rule:
    return lambda rows: np.array([float(one == spec) for one in rows["spec"]])


def _near_one(rows: Columns) -> np.ndarray:
    share = np.maximum(_column("own_share")(rows), 1e-9)
    return -np.abs(np.log(share))


def _product(rows: Columns) -> np.ndarray:
    return _column("neighbourhoods_kept")(rows) / np.maximum(_column("own_share")(rows), 1.0)


def _ranks(*rules: Rule) -> Rule:
    """Return the mean rank by several rules."""
    from scipy.stats import rankdata

    return lambda rows: np.mean([rankdata(rule(rows)) for rule in rules], axis=0)


LANGUAGE_ID = _column("language_id", -1)
OWN, SKEW, MUTUAL = _column("own_share", -1), _column("hub_skewness", -1), _column("mutual_neighbours")
RULES: dict[str, Rule] = {
    "language identification": LANGUAGE_ID,
    "hub skewness": SKEW,
    "own-language share": OWN,
    "own-language share nearest to 1": _near_one,
    "neighbourhoods kept": _column("neighbourhoods_kept"),
    "mutual neighbours": MUTUAL,
    **{f"language identification, kept >= {x}": _subject_to(LANGUAGE_ID, x) for x in (0.5, 0.7)},
    **{f"hub skewness, kept >= {x}": _subject_to(SKEW, x) for x in (0.5, 0.7)},
    **{f"own-language share, kept >= {x}": _subject_to(OWN, x) for x in (0.3, 0.5, 0.7, 0.8)},
    **{f"mutual neighbours, kept >= {x}": _subject_to(MUTUAL, x) for x in (0.5, 0.7)},
    "kept / own-language share": _product,
    "ranks: own-language share, hub skewness": _ranks(OWN, SKEW),
    "ranks: own-language share, kept": _ranks(OWN, _column("neighbourhoods_kept")),
    "ranks: own-language share, mutual": _ranks(OWN, MUTUAL),
    "ranks: hub skewness, mutual": _ranks(SKEW, MUTUAL),
    "ranks: own-language share, hub skewness, mutual": _ranks(OWN, SKEW, MUTUAL),
    "ranks: all four": _ranks(LANGUAGE_ID, SKEW, OWN, _column("neighbourhoods_kept")),
}
FIXED = ("centre:", "whiten:", "whiten:?shrink=0.5", "all-but-the-top:1::centre:", "lir:1", "standardize:")


def agreement(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return for each rule its rank correlation with the truth, what it chooses, and what that costs."""
    from scipy.stats import spearmanr

    rows = record["transforms"]
    assert (rows["spec"][0], rows["neighbourhoods_kept"][0]) == (PLAIN, 1)
    truth = _column("mAP")(rows)
    plain, best = truth[0], truth.max()
    found: dict[str, dict[str, Any]] = {}
    for name, rule in {**RULES, **{f"always {spec}": _fixed(spec) for spec in FIXED}}.items():
        score = rule(rows)
        place = int(np.flatnonzero(score == score.max())[0])
        always = name.startswith("always")
        flat = always or np.ptp(score) == 0
        found[name] = {
            "spearman": None if flat else float(spearmanr(score, truth).statistic),
            "chosen": rows["spec"][place],
            "gain": float(truth[place] - plain),
            "regret": float(best - truth[place]),
            "best_gain": float(best - plain),
        }
    return found


def summary(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each way and rule: means over the encoders of each data set, then over data sets."""
    rows: list[dict[str, Any]] = []
    for way in WAYS:
        own = [(record, agreement(record)) for record in records if record["way"] == way]
        sets = list(dict.fromkeys(record["data"] for record, _ in own))
        for name in own[0][1] if own else ():
            by_set = {data: [found[name] for record, found in own if record["data"] == data] for data in sets}
            everyone = [one for several in by_set.values() for one in several]
            rows.append(
                {
                    "way": way, "rule": name,
                    "spearman": _by_set(by_set, "spearman"),
                    "gain": _by_set(by_set, "gain"),
                    "regret": _by_set(by_set, "regret"),
                    "best_gain": _by_set(by_set, "best_gain"),
                    "worse_than_none": sum(one["gain"] < -0.001 for one in everyone),
                    "least_gain": min(one["gain"] for one in everyone),
                    "runs": len(everyone),
                }
            )  # fmt: skip
    return rows


def left_out_in_turn(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each data set the rule that the others would have us take, and what it gives there.

    That is the rule with the fewest choices that are worse than none and, of these, the highest mean gain.
    """
    rows: list[dict[str, Any]] = []
    for way in WAYS:
        own = [record for record in records if record["way"] == way]
        for data in dict.fromkeys(record["data"] for record in own):
            others = summary([record for record in own if record["data"] != data])
            best = min(others, key=lambda row: (row["worse_than_none"], -row["gain"]["all"]))
            here = [agreement(record)[best["rule"]] for record in own if record["data"] == data]
            rows.append(
                {
                    "way": way, "data": data, "rule": best["rule"], "runs": len(here),
                    "gain": float(np.mean([one["gain"] for one in here])),
                    "best_gain": float(np.mean([one["best_gain"] for one in here])),
                    "worse_than_none": sum(one["gain"] < -0.001 for one in here),
                }
            )  # fmt: skip
    return rows


def _by_set(by_set: dict[str, list[dict[str, Any]]], name: str) -> dict[str, float]:
    found = {
        data: [one[name] for one in several if one[name] is not None] for data, several in by_set.items()
    }
    means = {data: float(np.mean(values)) for data, values in found.items() if values}
    return means | ({"all": float(np.mean(list(means.values())))} if means else {})


def main() -> None:
    """Measure what is not there yet, print the tables and write the figures."""
    kept: dict[str, Any] = {}
    if OUT.exists():
        kept = {one["key"]: one for one in json.loads(OUT.read_text(encoding="utf-8"))["records"]}
    records: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        everything = list(problems(Path(folder)))
        for seed in SEEDS:
            for part in everything:
                for record in measured(part, seed, kept):
                    records.append(record)
                    print(record["key"], record["seconds"], "s", flush=True)
                _write({**kept, **{one["key"]: one for one in records}}.values())
    found = {"summary": summary(records), "left_out_in_turn": left_out_in_turn(records)}
    _write(records, found)
    for way in WAYS:
        print(way)
        rows = [row for row in found["summary"] if row["way"] == way]
        print(table(["rule", "spearman", "gain", "regret", "worse", "least gain"], map(_row, rows)))


def _write(records: Iterable[dict[str, Any]], more: Mapping[str, Any] | None = None) -> None:
    OUT.parent.mkdir(parents=True, exist_ok=True)
    content = {**(more or {}), "records": list(records)}
    text = json.dumps(content).replace('{"key"', '\n{"key"').replace('{"way"', '\n{"way"')
    OUT.write_text(text + "\n", encoding="utf-8")


def _row(row: dict[str, Any]) -> list[str]:
    def cell(values: dict[str, float]) -> str:
        return " ".join(f"{value:+.3f}" for value in values.values())

    return [
        row["rule"],
        cell(row["spearman"]),
        cell(row["gain"]),
        cell(row["regret"]),
        f"{row['worse_than_none']} of {row['runs']}",
        f"{row['least_gain']:+.3f}",
    ]


if __name__ == "__main__":
    main()
