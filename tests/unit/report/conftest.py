"""Made-up results of several shapes."""

from io import BytesIO
from itertools import permutations
from pathlib import Path
from runpy import run_path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image, ImageDraw

from xlingual.results import Behind, Entry, Interval, Results, Summary
from xlingual.signature import Signature

HEADLINE = {"backretrieval": "R@10", "crosslingual-retrieval": "R@10", "distance-correlation": "CORR"}

HOSTILE = "<script>alert(1)</script> \"quoted\" 'single' & <img src=x onerror=alert(2)>"
TEXTS = {
    "en": ["A small red teapot on a wooden table", HOSTILE, "W" * 180],
    "de": [
        "Eine kleine rote Teekanne auf einem Holztisch",
        "Donaudampfschifffahrtsgesellschaft" * 6,
        "Ein Hund",
    ],
    "ar": ["إبريق شاي أحمر صغير على طاولة خشبية (2 قطع)", "كلب يركض في الحديقة", "قطة"],
    "he": ["קומקום תה אדום קטן על שולחן עץ", "כלב רץ בגינה", "חתול"],
    "ja": ["木のテーブルの上の小さな赤いティーポット", "公園で走る犬", "猫"],
}


def ci(value, half=0.03):
    return Interval(round(value - half, 6), round(value + half, 6), 0.95, "bootstrap")


def signature(**fields):
    encoder = fields.pop("encoder", "e")
    return str(Signature(fields, {"encoder": f"vectors-sha256-of-{encoder}"}))


def entry(task, source, target, encoder, measure, value, **changes):
    fields = {
        "task": task, "source": source, "target": target, "encoder": encoder, "image_encoder": "scene:",
        "measure": measure, "value": value, "ci": None if value is None else ci(value), "chance": None,
        "oracle": None, "ceiling": None, "normalized": None, "n_source": 365, "n_target": 365, "n_tied": None,
        "seed": 0, "signature": signature(task=task, source=source, data="abc123", encoder=encoder),
    }  # fmt: skip
    return Entry(**(fields | changes))


def summary(task, encoder, measure, value, source=None, target=None, **changes):
    fields = {
        "task": task, "source": source, "target": target, "encoder": encoder, "image_encoder": "scene:",
        "measure": measure, "value": value, "ci": None if value is None else ci(value), "chance": None,
        "oracle": None, "ceiling": None, "normalized": None, "n_pairs": 1, "n_seeds": 1, "sd_seeds": None,
        "behind": None,
    }  # fmt: skip
    return Summary(**(fields | changes))


def behind(leader, value, half):
    return Behind(leader, value, Interval(value - half, value + half, 0.95, "paired bootstrap"))


def results_of(entries, summaries, **more):
    return Results(
        entries=entries, summary=summaries, per_query=pa.table({"task": pa.array([], pa.string())}), **more
    )


def image(seed, kind="PNG", size=96):
    rng = np.random.default_rng(seed)
    drawn = Image.new("RGB", (size, size), tuple(int(c) for c in rng.integers(150, 255, 3)))
    draw = ImageDraw.Draw(drawn)
    for _ in range(4):
        x, y, r = (int(v) for v in rng.integers(8, 70, 3))
        draw.ellipse(
            (x, y, x + r / 2 + 10, y + r / 2 + 10), fill=tuple(int(c) for c in rng.integers(0, 200, 3))
        )
    raw = BytesIO()
    drawn.save(raw, kind)
    return raw.getvalue()


def example(encoder, source, target, kind, position, **changes):
    number = len(encoder) + 7 * position
    query, retrieved = (TEXTS.get(language, ["text"] * 3)[position % 3] for language in (source, target))
    record = {
        "task": "backretrieval", "encoder": encoder, "source": source, "target": target, "seed": 0,
        "kind": kind, "position": position, "query_id": f"q{position}", "query_text": query,
        "query_picture": image(number, "JPEG"), "retrieved_id": f"r{position}", "retrieved_text": retrieved,
        "retrieved_picture": image(number + 1), "above": position + (300 if kind == "worst" else 0),
        "tied": 1, "pool": 365, "value": 1.0, "similarity": 0.91,
    }  # fmt: skip
    return record | changes


EXAMPLES = pa.schema(
    [
        *((name, pa.string()) for name in ("task", "encoder", "source", "target")),
        ("seed", pa.int64()), ("kind", pa.string()), ("position", pa.int64()),
        ("query_id", pa.string()), ("query_text", pa.string()), ("query_picture", pa.binary()),
        ("retrieved_id", pa.string()), ("retrieved_text", pa.string()), ("retrieved_picture", pa.binary()),
        ("above", pa.int64()), ("tied", pa.int64()), ("pool", pa.int64()),
        ("value", pa.float64()), ("similarity", pa.float64()),
    ]
)  # fmt: skip


def examples_table(records):
    return pa.Table.from_pylist(records, schema=EXAMPLES)


def synthetic(n_encoders, languages, tasks=("backretrieval",), pairs=None, with_examples=True, each=3):
    """Return results of many encoders: the first leads, the last one is at chance."""
    rng = np.random.default_rng(n_encoders)
    pairs = pairs or list(permutations(languages, 2))
    names = [f"encoder_{i + 1:02d}" for i in range(n_encoders)]
    if n_encoders > 1:
        names[1] = "paraphrase-multilingual-MiniLM-L12-v2_centred_300d"
    entries, summaries, records = [], [], []
    for task in tasks:
        full = task == "backretrieval"
        extra = {"backretrieval": ["SIM", "RR", "MedR"], "crosslingual-retrieval": ["RR"]}.get(task, [])
        for measure in [HEADLINE[task], *extra]:
            tops, leader = {}, names[0]
            for i, name in enumerate(names):
                last = n_encoders > 2 and i == n_encoders - 1
                base = 0.03 if last else 0.42 - 0.3 * i / max(n_encoders, 2)
                marks = {}
                if measure in ("R@10", "RR"):
                    marks["chance"] = 10 / 365
                if measure == "R@10" and full:
                    marks |= {"oracle": 0.76, "ceiling": 0.981}
                values = []
                for j, (source, target) in enumerate(pairs):
                    value = base * (1 + 0.35 * np.sin(j * 1.7)) + rng.normal(0, 0.004)
                    value = (
                        float(1 / max(value, 0.01)) if measure == "MedR" else round(float(max(value, 0.0)), 6)
                    )
                    own = dict(marks)
                    if "oracle" in own:
                        own["normalized"] = (value - own["chance"]) / (own["oracle"] - own["chance"])
                    entries.append(
                        entry(task, source, target, name, measure, value, n_tied=i if full else 0, **own)
                    )
                    summaries.append(summary(task, name, measure, value, source, target, **own))
                    values.append(value)
                mean = sum(values) / len(values)
                tops[name] = mean
                own = dict(marks)
                if "oracle" in own:
                    own["normalized"] = (mean - own["chance"]) / (own["oracle"] - own["chance"])
                if i:
                    own["behind"] = behind(leader, tops[leader] - mean, 0.02 if measure != "MedR" else 0.1)
                summaries.append(summary(task, name, measure, mean, n_pairs=len(pairs), **own))
    if with_examples:
        records = [
            example(name, source, target, kind, k)
            for name in names[:4]
            for source, target in pairs
            for kind in ("best", "worst")
            for k in range(each)
        ]
    return results_of(
        entries,
        summaries,
        examples=examples_table(records) if records else None,
        warnings=["3 texts are empty (rows 4, 9, 12): they are left out"],
        timings={"encode": 4.21, "rank": 0.31, "bootstrap": 12.0},
    )


class Made:
    """The builders, for tests."""

    ci = staticmethod(ci)
    entry = staticmethod(entry)
    summary = staticmethod(summary)
    behind = staticmethod(behind)
    results = staticmethod(results_of)
    synthetic = staticmethod(synthetic)
    image = staticmethod(image)
    example = staticmethod(example)
    examples = staticmethod(examples_table)
    signature = staticmethod(signature)
    hostile = HOSTILE


@pytest.fixture
def made():
    return Made


POOL = run_path(str(Path(__file__).with_name("pool_results.py")))["Pool"]


@pytest.fixture
def pool():
    """Results over a multilingual pool."""
    return POOL
