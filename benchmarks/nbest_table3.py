"""Do similarities of source and hypothesis re-rank translations: Table 3 of MLMME, on lists for Multi30K.

`python -m benchmarks nbest_table3` runs the commands of docs/results/nbest.md, prints them, and makes the
tables from what they write. All of it is kept under out/nbest_table3: what is there is not made again. It
needs the lists of XLINGUAL_DATA/nbest_multi30k, and torch.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.cli.main import run
from xlingual.nbest.ablation import BleuDifference, paired_bootstrap
from xlingual.nbest.apply import read_texts
from xlingual.nbest.bleu import corpus_bleu, list_counts, sentence_bleu
from xlingual.nbest.choice import decoder_best, first_best
from xlingual.nbest.format import read_nbest, write_nbest
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.weights import Weights
from xlingual.stats.corrections import holm
from xlingual.streams import stream

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")) / "nbest_multi30k"
OUT = Path("out/nbest_table3")
TUNE, TEST = "val", "test_2016_flickr"
LABELS = ("d", "lm", "tm", "w")
OWN = ("d", "lm", *(f"tm[{i}]" for i in range(5)), "w")
TOTAL = "total"  # the decoder's score as a feature: the one feature that a neural system's list has
MODELS = {"mlmme-6": 6, "mlmme-100": 100}  # by their most epochs: barely trained, and until patience stops it
SIMILARITIES = ("lsa", *MODELS)
DRAWS = 100
ADDED = {
    "+ lsa": ("lsa",),
    "+ MLMME β=0, 6 epochs": ("mlmme-6",),
    "+ MLMME β=0, trained": ("mlmme-100",),
    "+ all three": SIMILARITIES,
}
SETS = {"own features": OWN} | {kind: (*OWN, *names) for kind, names in ADDED.items()}
ONE = {f"score {kind}": (TOTAL, *names) for kind, names in ADDED.items()}
WAYS = {
    "MIRA": (),
    "MIRA, standardised": ("--standardize",),
    "PRO, standardised": ("--algorithm", "pro", "--standardize"),
}
MEASURES = {"BLEU": "BLEU", "METEOR (exact + stem)": "METEOR (exact + stem)", "TER": "TER ↓"}


def command(out: Path, *words: object) -> None:
    """Run a command of xlingual, unless what it writes is there."""
    given = [str(word) for word in words] + ["--out", str(out), "--quiet"]
    print("xlingual", shlex.join(given), flush=True)
    if not out.exists() and run(given) != 0:
        raise SystemExit(f"xlingual {shlex.join(given)} failed")


def manifest(part: str, ending: str = "") -> Path:
    """Return the manifest of a part's pairs of sentences, written once."""
    path = OUT / f"{part}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        sides = [read_texts(DATA / f"{part}.{tag}{ending}") for tag in ("en", "de")]
        rows = (
            {"id": f"{part}{i}", "text_en": en, "text_de": de}
            for i, (en, de) in enumerate(zip(*sides, strict=True))
        )
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return path


def encoders() -> tuple[str, ...]:
    """Return the specs of the encoders of SIMILARITIES, the trained ones trained on the 29,000 pairs."""
    train = manifest("train", ".gz")
    small = ("--word-dim", 128, "--state-dim", 256, "--joint-dim", 256, "--threshold", 2, "--threads", 1)
    for name, epochs in MODELS.items():
        how = ("--beta", 0, "--pretokenized", "--contrast", "in-batch", *small, "--epochs", epochs)
        command(OUT / name, "train", "mlmme", train, *how)
    specs = (f"lsa:?fit={train}", *(f"model:{OUT / name}" for name in MODELS))
    return tuple(word for spec in specs for word in ("--text-encoder", spec))


def with_similarities(specs: Sequence[str]) -> dict[str, NBestLists]:
    """Return the lists of both parts with all similarities as features."""
    for part in (TUNE, TEST):
        languages = ("--source-language", "en", "--target-language", "de", "--no-store")
        source = ("--source", DATA / f"{part}.en")
        command(
            OUT / f"{part}.nbest", "rerank", "features", DATA / f"{part}.nbest", *source, *specs, *languages
        )
    read = {part: read_nbest(OUT / f"{part}.nbest") for part in (TUNE, TEST)}
    return {part: lists.with_features({TOTAL: lists.scores}) for part, lists in read.items()}


def judged(specs: Sequence[str]) -> None:
    """Print what the encoders are worth: the sums of recalls by epoch, and retrieval of test references."""
    for name in MODELS:
        lines = [json.loads(line) for line in (OUT / name / "log.jsonl").read_text("utf-8").splitlines()]
        sums = {line["epoch"]: line["validation"]["score"] for line in lines}
        every = ", ".join(f"{epoch}: {sums[epoch]:.0f}" for epoch in sums)
        best, seconds = max(sums, key=lambda epoch: sums[epoch]), sum(line["seconds"] for line in lines)
        print(
            f"\n{name}: best epoch {best} of {len(sums)}, {seconds:.0f} s; sum of recalls by epoch: {every}"
        )
    how = ("--pairs", "en-de,de-en", "--measure", "R@1", "--no-store", *specs)
    command(OUT / "retrieval", "evaluate", "crosslingual-retrieval", manifest(TEST), *how)
    head(f"encoder, R@1 on {TEST}", "en→de", "de→en")
    entries = json.loads((OUT / "retrieval" / "results.json").read_text(encoding="utf-8"))["results"]
    for encoder, name in zip(dict.fromkeys(entry["encoder"] for entry in entries), SIMILARITIES, strict=True):
        found = {entry["source"]: entry for entry in entries if entry["encoder"] == encoder}
        ends = {source: found[source]["ci"] for source in ("en", "de")}
        row(
            [
                name,
                *(f"{found[of]['value']:.3f} [{ci['low']:.3f}, {ci['high']:.3f}]" for of, ci in ends.items()),
            ]
        )


def folder_of(way: str, kind: str) -> Path:
    """Return where a tuning's files are."""
    return OUT / re.sub(r"\W+", "-", f"{way} {kind}", flags=re.ASCII).strip("-").lower()


def tuned(lists: dict[str, NBestLists], way: str, kind: str) -> list[Path]:
    """Return the translations of the test lists that each tuning with some similarities chooses."""
    folder = folder_of(way, kind)
    for part, own in lists.items():
        if not (folder / f"{part}.nbest").exists():
            write_nbest(own.keep_features((SETS | ONE)[kind]), folder / f"{part}.nbest")
    references = ("--references", DATA / f"{TUNE}.de")
    weights = folder / "weights.json"
    command(weights, "rerank", "tune", folder / f"{TUNE}.nbest", *references, *WAYS[way])
    best = []
    for tuning in range(len(Weights.read(weights).tunings)):
        best.append(folder / f"best.{tuning}")
        how = ("--weights", weights, "--tuning", tuning)
        command(best[-1], "rerank", "apply", folder / f"{TEST}.nbest", *how)
    return best


def scores(best: Sequence[Path], baseline: Path, name: str, *more: object) -> dict[str, Any]:
    """Return what `score` says of some translations against a baseline."""
    path = OUT / "scores" / f"{name}.json"
    how = ("--references", DATA / f"{TEST}.de", "--baseline", baseline, "--language", "de")
    command(path, "rerank", "score", *best, *how, *more)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def counts_of(lists: NBestLists, weights: Path, of: Ints) -> Ints:
    """Return the BLEU counts of what each tuning chooses, [tunings, s, 10]."""
    found = Weights.read(weights)
    shown = lists.keep_features(found.features)
    return np.stack([of[found.choose(shown, tuning)] for tuning in range(len(found.tunings))])


def row(cells: Iterable[str]) -> None:
    """Print a row of Markdown."""
    print(f"| {' | '.join(cells)} |")


def head(*names: str) -> None:
    """Print the head of a table."""
    print()
    row(names)
    print("|" + "---|" * len(names))


def signed(value: float) -> str:
    """Return a difference with its sign."""
    return f"{value:+.2f}".replace("-", "−")


def p_range(values: Sequence[float]) -> str:
    """Return the p-values of several tunings."""
    low, high = (f"{value:.3f}".removeprefix("0") for value in (min(values), max(values)))
    return f"p {low}" if low == high else f"p {low}–{high}"


def cells_of(found: dict[str, Any]) -> list[str]:
    """Return the measures of a system's tunings, each with its difference to the baseline."""
    base, systems = found["systems"][0], [one for one in found["systems"] if one["kind"] == "system"]
    cells = []
    for measure in MEASURES:
        values = [one["scores"][measure]["value"] for one in systems]
        spread = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
        gain = signed(float(np.mean(values)) - base["scores"][measure]["value"])
        p = p_range([one["scores"][measure]["p"] for one in systems])
        cells.append(f"{np.mean(values):.2f}{spread} ({gain}; {p})")
    return cells


def bounds(found: dict[str, Any]) -> None:
    """Print the baseline with its intervals, and the choices that need no weights."""
    for one in found["systems"]:
        if one["kind"] == "baseline" or one["name"] in ("oracle", "anti-oracle") or "random" in one["name"]:
            name = "decoder's 1-best" if one["kind"] == "baseline" else one["name"]
            cells = []
            for measure in MEASURES:
                score = one["scores"][measure]
                ci = score["ci"] if one["kind"] == "baseline" else None
                cells.append(
                    f"{score['value']:.2f}" + (f" [{ci['low']:.2f}, {ci['high']:.2f}]" if ci else "")
                )
            row([name, *cells])


def difference(found: BleuDifference) -> str:
    """Return a difference with its interval and p."""
    ends = ", ".join(signed(end) for end in (found.ci.low, found.ci.high))
    return f"{signed(found.value)} [{ends}], p {found.p:.3f}".replace("p 0.", "p .")


def within_list_correlation(feature: Floats, quality: Floats, lists: NBestLists) -> float:
    """Return the mean over lists of Spearman's correlation of a feature with sentence BLEU."""
    from scipy.stats import rankdata

    found = []
    for start, end in zip(lists.offsets[:-1], lists.offsets[1:], strict=True):
        a, b = rankdata(feature[start:end]), rankdata(quality[start:end])
        if a.std() > 0 and b.std() > 0:
            found.append(float(np.corrcoef(a, b)[0, 1]))
    return float(np.mean(found))


def alone(lists: dict[str, NBestLists], of: Ints) -> None:
    """Print what each feature does by itself on the test lists: no weight is tuned."""
    own = lists[TEST]
    quality = sentence_bleu(of)
    head("feature alone", "BLEU of its highest", "mean within-list correlation with sentence BLEU")
    for name in ("lm", *SIMILARITIES):
        feature = own.features[:, own.names.index(name)]
        bleu = float(corpus_bleu(of[first_best(feature, own.offsets)].sum(axis=0)))
        row([name, f"{bleu:.2f}", signed(within_list_correlation(feature, quality, own))])
    random, starts, sizes = stream(0, "nbest_table3 random choice"), own.offsets[:-1], np.diff(own.offsets)
    drawn = [corpus_bleu(of[starts + random.integers(0, sizes)].sum(axis=0)) for _ in range(DRAWS)]
    row([f"chosen at random, {DRAWS} draws", f"{np.mean(drawn):.2f} ± {np.std(drawn, ddof=1):.2f}", ""])


def main() -> None:
    """Run what is not there yet, and print the tables."""
    if not DATA.is_dir():
        raise SystemExit(f"no real data in {DATA}: set XLINGUAL_DATA")
    specs = encoders()
    judged(specs)
    lists = with_similarities(specs)
    references = DATA / f"{TEST}.de"
    of = list_counts(lists[TEST], [read_texts(references)])
    base = OUT / "decoder"
    base.write_text(
        "".join(f"{lists[TEST].hypotheses[row]}\n" for row in decoder_best(lists[TEST])), encoding="utf-8"
    )
    best = {(way, kind): tuned(lists, way, kind) for way in WAYS for kind in SETS}
    found = {key: scores(paths, base, folder_of(*key).name) for key, paths in best.items()}
    of_lists = scores([best["MIRA", "own features"][0]], base, "bounds", "--nbest", OUT / f"{TEST}.nbest")
    for way in WAYS:
        print(f"\n### {way}")
        head("", *MEASURES.values())
        bounds(of_lists)
        for kind in SETS:
            row([kind, *cells_of(found[way, kind])])
    looked_at = gains(lists, of)
    corrected(looked_at)
    looked_at |= one_feature(lists, of, base)
    alone(lists, of)
    path = OUT / "ablation.json"
    groups = [*((name,) for name in LABELS), *((name,) for name in SIMILARITIES), SIMILARITIES]
    sets = [word for names in groups for word in ("--without", ",".join(names))]
    on = ("--on", OUT / f"{TEST}.nbest", "--on-references", references)
    tune = ("--references", DATA / f"{TUNE}.de", "--standardize")
    command(path, "rerank", "ablate", OUT / f"{TUNE}.nbest", *tune, *on, *sets)
    looked_at |= ablation(json.loads(path.read_text(encoding="utf-8")))
    corrected(looked_at)


def corrected(looked_at: dict[str, float]) -> None:
    """Print the smallest p-values of comparisons of similarities with none, and Holm's corrected ones."""
    names, p = list(looked_at), np.array(list(looked_at.values()))
    adjusted = holm(p)
    head(f"smallest of {len(p)} comparisons", "p", "p after Holm")
    for i in np.argsort(p, kind="stable")[:4]:
        row([names[i], f"{p[i]:.3f}", f"{adjusted[i]:.3f}"])


def gains(lists: dict[str, NBestLists], of: Ints) -> dict[str, float]:
    """Print what similarities add to the own features, in BLEU on the test lists; return the p-values."""
    head("BLEU gained over the own features", *WAYS)
    weights = {
        (way, kind): counts_of(lists[TEST], folder_of(way, kind) / "weights.json", of)
        for way in WAYS
        for kind in SETS
    }
    first = of[decoder_best(lists[TEST])][None]
    over = [difference(paired_bootstrap(weights[way, "own features"], first)) for way in WAYS]
    row(["(own features over the 1-best)", *over])
    looked_at = {}
    for kind in list(SETS)[1:]:
        more = {way: paired_bootstrap(weights[way, kind], weights[way, "own features"]) for way in WAYS}
        row([kind, *(difference(one) for one in more.values())])
        looked_at |= {f"{kind} ({way})": one.p for way, one in more.items()}
    whole = weights["MIRA", "own features"]
    assert corpus_bleu(whole.sum(axis=1)).mean() > corpus_bleu(of[decoder_best(lists[TEST])].sum(axis=0))
    return looked_at


def one_feature(lists: dict[str, NBestLists], of: Ints, base: Path) -> dict[str, float]:
    """Print what similarities add to the decoder's score, where that is all a list has; return p-values."""
    way = "MIRA, standardised"
    first = of[decoder_best(lists[TEST])][None]
    head(way, *MEASURES.values(), "BLEU gained over the 1-best")
    looked_at = {}
    for kind in ONE:
        best = tuned(lists, way, kind)
        cells = cells_of(scores(best, base, folder_of(way, kind).name))
        counts = counts_of(lists[TEST], folder_of(way, kind) / "weights.json", of)
        more = paired_bootstrap(counts, first)
        row([kind, *cells, difference(more)])
        looked_at[kind] = more.p
    return looked_at


def ablation(content: dict[str, Any]) -> dict[str, float]:
    """Print an ablation; return the p-values of what is without one similarity (without all: in `gains`)."""
    head("standardised MIRA", "BLEU", "gain of having them")
    row(["all", f"{content['bleu']['mean']:.2f} ± {content['bleu']['sd']:.2f}", ""])
    for one in content["rows"]:
        gain = one["gain"]
        ends = ", ".join(signed(gain["ci"][end]) for end in ("low", "high"))
        interval = f"{signed(gain['value'])} [{ends}], p {gain['p']:.3f}".replace("p 0.", "p .")
        bleu = f"{one['bleu']['mean']:.2f} ± {one['bleu']['sd']:.2f}"
        row([f"without {', '.join(one['without'])}", bleu, interval])
    return {
        f"without {', '.join(one['without'])}": one["gain"]["p"]
        for one in content["rows"]
        if len(one["without"]) == 1 and one["without"][0] in SIMILARITIES
    }
