"""Made-up results over a multilingual pool, with every view and table, and words in several scripts."""

from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
from msgspec import structs

from xlingual.report import leaderboard
from xlingual.report.pool_views import views_of
from xlingual.results import Behind, Entry, Interval, Results, Summary
from xlingual.results.document import plain
from xlingual.results.views import PoolViews
from xlingual.signature import Signature
from xlingual.typed import convert

TASK = "multilingual-pool"
LANGUAGES = ("ar", "de", "en", "es", "hi", "vi", "zh")
# quality, liking for the own language, dislike of far languages
ENCODERS = {
    "balanced_mix": (0.62, 0.004, 0.05),
    "english-only-dual-encoder_v2": (0.55, 0.26, 0.16),
    "chargram": (0.16, 0.22, 0.08),
}
FAR = {"ar": 0.8, "de": 0.1, "en": 0.0, "es": 0.15, "hi": 1.0, "vi": 0.5, "zh": 0.9}
TEXTS = {
    "ar": ("متى بني الجسر القديم فوق النهر؟", "بني الجسر القديم عام 1887 (وفق السجلات)."),
    "de": ("Wann wurde die alte Brücke gebaut?", "Die alte Brücke wurde 1887 gebaut."),
    "en": ("When was the old bridge built?", "The old bridge was built in 1887."),
    "es": ("¿Cuándo se construyó el puente viejo?", "El puente viejo se construyó en 1887."),
    "hi": ("पुराना पुल कब बनाया गया था?", "पुराना पुल 1887 में बनाया गया था।"),
    "vi": ("Cây cầu cũ được xây khi nào?", "Cây cầu cũ được xây năm 1887."),
    "zh": ("老桥是什么时候建造的？", "老桥建于1887年。"),
}


def ci(value, half=0.012):
    low, high = (round(float(end), 6) for end in (value - half, value + half))
    return {"low": low, "high": high, "level": 0.95, "method": "clustered bootstrap"}


def interval(value, half=0.012):
    return Interval(**ci(value, half))


def key(pair):
    return "->".join(pair)


def signature(encoder):
    conditions = {"task": TASK, "languages": ",".join(LANGUAGES), "data": "abc123"}
    return str(Signature(conditions, {"encoder": f"vectors-sha256-of-{encoder}"}))


def made_views(name, languages, rng):
    """Return every view of an encoder, plausible and consistent enough to look at."""
    quality, bias, far = ENCODERS[name]
    hard = {lang: far * FAR[lang] for lang in languages}
    one = {
        (q, a): float(np.clip(quality + (bias if q == a else 0) - hard[q] - hard[a] * (q != a)
                      + rng.normal(0, 0.008), 0.002, 0.99))
        for q, a in product(languages, languages)
    }  # fmt: skip
    own = float(np.mean([one[lang, lang] for lang in languages]))
    other = float(np.mean([value for (q, a), value in one.items() if q != a]))
    by_language = {q: float(np.mean([one[q, a] for a in languages]) * 0.85) for q in languages}
    mono = {q: min(0.97, one[q, q] + 0.12) for q in languages}
    weights = np.array(
        [
            [np.exp(6 * bias * (q == a) - 2 * far * FAR[a] + rng.normal(0, 0.05)) for a in languages]
            for q in languages
        ]
    )
    shares = weights / weights.sum(axis=1, keepdims=True)
    n = len(languages)
    share = {(q, a): float(shares[i, j]) for i, q in enumerate(languages) for j, a in enumerate(languages)}
    loss = {}
    for q, a in one:
        amount = 4.0 / one[q, a]
        kinds = {"question": amount * (0.3 + bias), "answer": amount * 0.3, "third": amount * 0.5}
        loss[key((q, a))] = kinds | ({"answer": 0.0} if q == a else {})
    delta = bias * 0.45
    same, rand = np.mean(list(by_language.values())) * (1 - delta), np.mean(list(by_language.values()))
    ident = {
        "-".join(pair): 0.97 - 0.3 * (bias < 0.1)
        for pair in product(languages, languages)
        if pair[0] < pair[1]
    }
    ident["all"] = 0.93 - 0.5 * (bias < 0.1)
    subsets = {
        ",".join(lang for lang in languages if lang != gone): 0.55 * quality + 0.02 * FAR[gone]
        for gone in languages
    }
    subsets["de,en"] = 0.8 * quality
    aligned = {"weak": other + 0.05, "weak_own": own + 0.05, "strong": 0.62 - bias, "strict_own": 0.02}
    macro = float(np.mean(list(by_language.values())))
    views = {
        "languages": list(languages),
        "by_question_language": by_language,
        "macro": macro,
        "one_target": {key(pair): value for pair, value in one.items()},
        "one_target_summary": {"own": own, "other": other, "gap": own - other},
        "remove_one": {
            "same": float(same), "rand": float(rand), "relative_delta": delta, "n_questions": 1190 * n,
        },
        "monolingual_pool": mono,
        "monolingual_pool_average": float(np.mean(list(mono.values()))),
        "monolingual_pool_questions": dict.fromkeys(languages, 1190),
        "top": 100,
        "language_share_top100": {key(pair): value for pair, value in share.items()},
        "language_share_ratio_top100": {key(pair): value * n for pair, value in share.items()},
        "language_id_accuracy": ident,
        "language_id_chance": {name: 1 / n if name == "all" else 0.5 for name in ident},
        "weak_alignment": {key(pair): min(0.99, value + 0.05) for pair, value in one.items()},
        "strong_alignment": {key((q, a)): 0.9 if q == a else 0.62 - bias for q, a in one},
        "alignment": aligned | {"strict": 0.001},
        "alignment_chance": {"weak": 0.00085, "weak_own": 0.00085, "strong": 0.5, "strict": 1e-22},
        "subsets": subsets,
        "fairness": {"PEER@20": {"value": 0.9 - bias, "relevant": 0.92 - bias, "other": 0.88 - bias}},
        "loss": loss,
        "hubs": {
            "k": 10, "skewness": 0.9 + 20 * bias, "never": 0.1 + bias, "largest": 40.0 + 2000 * bias,
            "expected": 10.06, "alarm": bias > 0.1, "n_largest": 83, "errors": 0.1 + bias,
            "errors_by_chance": 0.03, "skewness_bound": 0.5, "never_by_chance": 0.0,
            "skewness_ci": {"low": 0.8 + 20 * bias, "high": 1 + 20 * bias, "level": 0.95, "method": "t"},
            "distribution": [
                {"least": 0, "n": 800, "by_chance": 0.3}, {"least": 1, "n": 7000, "by_chance": 8000.0},
                {"least": 2, "n": 460, "by_chance": 0.02},
            ],
            "by_language": {lang: (0.3 if lang == "en" else 0.1) * (0.2 + bias) for lang in languages},
        },
    }  # fmt: skip
    views["ci"] = {
        "by_question_language": {lang: ci(value) for lang, value in by_language.items()},
        "macro": ci(macro),
        "one_target": {name: ci(value, 0.02) for name, value in views["one_target"].items()},
        "one_target_summary": {
            "own": ci(own), "other": ci(other), "gap": ci(own - other, 0.05 if bias < 0.1 else 0.01),
        },
        "remove_one": {"same": ci(same), "rand": ci(rand), "relative_delta": ci(delta, 0.004)},
        "monolingual_pool": {lang: ci(value) for lang, value in mono.items()},
        "monolingual_pool_average": ci(views["monolingual_pool_average"]),
        "weak_alignment": {name: ci(value) for name, value in views["weak_alignment"].items()},
        "strong_alignment": {name: ci(value) for name, value in views["strong_alignment"].items()},
        "alignment": {name: ci(value) for name, value in views["alignment"].items()},
        "subsets": {name: ci(value) for name, value in subsets.items()},
        "language_id_accuracy": {name: ci(value, 0.01) for name, value in ident.items()},
    }  # fmt: skip
    return views


def made_entry(name, measure, value, n_languages=7, **changes):
    fields = {
        "task": TASK, "source": "all", "target": "pool", "encoder": name, "image_encoder": None,
        "measure": measure, "value": value, "ci": interval(value), "chance": 0.0012, "oracle": None,
        "ceiling": None, "normalized": None, "n_source": 1190 * n_languages, "n_target": 1180 * n_languages,
        "n_tied": 3, "seed": 0, "signature": signature(name),
    }  # fmt: skip
    if "views" in changes:
        changes["views"] = typed(changes["views"])
    return Entry(**(fields | changes))


def made_summary(name, measure, value, source=None, target=None, **changes):
    fields = {
        "task": TASK, "source": source, "target": target, "encoder": name, "image_encoder": None,
        "measure": measure, "value": value, "ci": interval(value), "chance": 0.0012, "oracle": None,
        "ceiling": None, "normalized": None, "n_pairs": 1, "n_seeds": 1, "sd_seeds": None, "behind": None,
    }  # fmt: skip
    return Summary(**(fields | changes))


def pool_results(encoders=tuple(ENCODERS), languages=LANGUAGES, texts=TEXTS, seed=1):
    """Return the results of a run over a pool, with all views and all tables."""
    rng = np.random.default_rng(seed)
    entries, summaries, leader = [], [], None
    for name in encoders:
        views = made_views(name, languages, rng)
        value = views["macro"]
        leader = leader or (name, value)
        behind = (
            None if name == leader[0] else Behind(leader[0], leader[1] - value, interval(leader[1] - value))
        )
        entries.append(made_entry(name, "AP", value, n_languages=len(languages), views=views))
        for measure, factor in (("AP@20/min", 0.9), ("R@10", 1.3)):
            short = {field: views[field] for field in ("languages", "by_question_language", "macro")}
            entries.append(made_entry(name, measure, factor * value, n_languages=len(languages), views=short))
        for measure, factor in (("AP", 1.0), ("AP@20/min", 0.9), ("R@10", 1.3)):
            summaries.append(
                made_summary(name, measure, factor * value, behind=behind, n_pairs=len(languages))
            )
            summaries += [
                made_summary(name, measure, factor * views["by_question_language"][lang], lang, "pool")
                for lang in languages
            ]
    return Results(
        entries=entries,
        summary=summaries,
        per_query=pa.table({"task": pa.array([], pa.string())}),
        tables={
            "points": points(encoders, languages, rng),
            "hubs": hubs(encoders, languages, texts, rng),
            "worst": worst(encoders, languages, texts, rng),
        },
        warnings=["a question without an answer (de-17) is left out"],
        timings={"rank": 1.5},
    )


def points(encoders, languages, rng, each=600):
    rows = []
    for name in encoders:
        bias = ENCODERS[name][1]
        for language, sign in ((languages[0], -1), (languages[-1], 1)):
            for role, shift in (("question", 0.12), ("candidate", -0.12)):
                x = rng.normal(sign * bias * 3, 0.35, each)
                y = rng.normal(shift, 0.22, each)
                rows += [
                    {"encoder": name, "language": language, "role": role, "x": float(a), "y": float(b),
                     "text_id": f"{role}-{i}"}
                    for i, (a, b) in enumerate(zip(x, y, strict=True))
                ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def hubs(encoders, languages, texts, rng):
    rows = []
    for name in encoders:
        for i in range(8):
            language = languages[(2 + 3 * i) % len(languages)]
            rows.append(
                {"encoder": name, "id": f"{language}-{i}", "language": language,
                 "text": texts[language][i % len(texts[language])],
                 "count": 900.5 - 90 * i, "expected": 10.06, "relevant_to": i % 3}
            )  # fmt: skip
    return pa.Table.from_pylist(rows)


def worst(encoders, languages, texts, rng, each=4):
    rows = []
    for name in encoders:
        for i in range(each):
            asked = languages[(2 * i) % len(languages)]
            question = {
                "encoder": name, "question_id": f"{asked}-q{i}", "question_language": asked,
                "question": texts[asked][0], "value": 0.001 * (i + 1), "rank_of_best": 412.5 + 37 * i,
            }  # fmt: skip
            for place in range(1, 5):
                language = asked if i % 2 else languages[(place + i) % len(languages)]
                rows.append(
                    question
                    | {"place": place, "candidate_id": f"{language}-c{place}", "candidate_language": language,
                       "candidate": texts[language][-1], "relevant": False, "kind": "above"}
                )  # fmt: skip
            answer = languages[(i + 3) % len(languages)]
            rows.append(
                question
                | {"place": 413 + i, "candidate_id": f"{answer}-a", "candidate_language": answer,
                   "candidate": texts[answer][1], "relevant": True, "kind": "answer"}
            )  # fmt: skip
    return pa.Table.from_pylist(rows)


def typed(views):
    """Return views as results have them, without those that are None."""
    held = {name: view for name, view in plain(views).items() if view is not None}
    return convert(held | {"task": TASK}, PoolViews, where="views")


def viewed(results):
    """Return the encoders of the leaderboard with their views."""
    return views_of([results], leaderboard([results], TASK, "AP"))


def rewritten(results, of, change):
    """Return the results with other views for the entries that `of` picks; without those that are None."""
    entries = [
        structs.replace(entry, views=typed(change(plain(entry.views)))) if of(entry) else entry
        for entry in results.entries
    ]
    return replace(results, entries=entries)


def without(results, *names, tables_too=False):
    """Return the results without some views."""
    less = rewritten(results, lambda _: True, lambda views: views | dict.fromkeys(names))
    return replace(less, tables={}) if tables_too else less


def changed(results, encoder, **views):
    """Return the results with some views of an encoder replaced."""
    return rewritten(
        results, lambda entry: (entry.encoder, entry.measure) == (encoder, "AP"), lambda own: own | views
    )


def each_with(results, **views):
    """Return the results where every entry has these views besides, or not at all where None."""
    return rewritten(results, lambda _: True, lambda own: own | views)


class Pool:
    """The builders, for tests."""

    views_of = staticmethod(viewed)
    without = staticmethod(without)
    changed = staticmethod(changed)
    each_with = staticmethod(each_with)

    task = TASK
    languages = LANGUAGES
    texts = TEXTS
    results = staticmethod(pool_results)
    entry = staticmethod(made_entry)
    summary = staticmethod(made_summary)
    ci = staticmethod(ci)
