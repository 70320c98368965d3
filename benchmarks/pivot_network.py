"""The image pivot: what a small residual network adds to the linear map.

Items to fit on have a text in one of two languages and an image, so that no two texts mean the same; pairs
are near images. The linear map is one that is good on average, ridge towards the identity. Over its
vectors x a network gives x + W₂·ReLU(W₁·x + b₁) + b₂, one for each language or one for both; W₂ begins at
zero, so that it begins with the linear map. It is trained by a softmax over the pairs, weighted, both ways: a
text is to find its partner among all texts of the other language. Few steps, and decay of all weights, hold
it to the linear map. XLR R@10 of items apart is the truth. Beside that stands what pairs without errors give:
the same on half as many items, with texts in both languages ("known").
`python -m benchmarks pivot_network` writes docs/results/pivot-network.json; what was measured before is kept.
"""

from __future__ import annotations

import io
import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.experiments import table
from benchmarks.label_free import _write_emoji
from xlingual import DataWarning, Manifest
from xlingual.arrays import Vectors
from xlingual.embed import embed_roles, load_fit_texts
from xlingual.encoders import text_encoders
from xlingual.pivot.fit import CENTRE, NONE, Options, Settings, applied, fit
from xlingual.pivot.nodes import Nodes
from xlingual.pivot.pairs import NO_PAIRS, Alike, Pairs, alike, near_pairs, same_pairs
from xlingual.transforms.affine import unit_rows

DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data"))
OUT = Path("docs/results/pivot-network.json")
SEEDS = range(int(os.environ.get("SEEDS", "3")))
LINEAR = (
    *(Settings(kind) for kind in (NONE, CENTRE)),
    *(Settings("ridge", penalty) for penalty in (0.005, 0.02, 0.1)),
    Settings("procrustes", 0.02),
)
EMOJI = (("en", "de"), ("en", "es"), ("fr", "it"), ("en", "tr"))
SIDE = 16  # pixels of an emoji
RATE = 1e-3


@dataclass(frozen=True)
class Network:
    """How a network is trained."""

    hidden: int = 128
    shared: bool = False  # one network for all languages
    steps: int = 10
    decay: float = 0.1  # of AdamW
    temperature: float = 0.05
    rounds: int = 1  # how often pairs are found anew by its vectors

    @property
    def name(self) -> str:
        """How the figures call it."""
        kind = "shared" if self.shared else "per language"
        again = f", {self.rounds} rounds" if self.rounds > 1 else ""
        return f"{kind}, {self.steps} steps, temperature {self.temperature:g}, decay {self.decay:g}{again}"


LINEAR_NAMES = tuple(settings.name for settings in LINEAR)
BELOW = Settings("ridge", 0.02).name  # the linear map below the networks
NETWORKS = (
    *(Network(shared=True, steps=steps) for steps in (5, 10, 20, 50)),
    Network(shared=False),
    Network(shared=True, temperature=0.2),
    Network(shared=True, decay=3.0, steps=20),
    Network(shared=True, rounds=3),
)


@dataclass(frozen=True)
class Problem:
    """Vectors of items [n, d] in two languages, and of their images [n, e]; how many are held out."""

    data: str
    encoder: str
    texts: tuple[Vectors, Vectors]
    image: Vectors
    held_out: int


def problems(folder: Path) -> Iterator[Problem]:
    """Yield data and encoders; encoders are fitted on other texts than those of the data."""
    ikea = DATA / "ikea"
    image = np.load(ikea / "ikea_en_de_eval_features.npy")
    for path in sorted((ikea / "embeddings").glob("*.en.npy")):
        name = path.name.removesuffix(".en.npy")
        first, second = (
            np.load(path.with_name(f"{name}.{tag}.npy")).astype(np.float32) for tag in ("en", "de")
        )
        yield Problem("IKEA", name, (first, second), image, 280)
    emoji = folder / "emoji.jsonl"
    _write_emoji(emoji)
    names = Manifest.read(emoji, split="test")
    pixels = _pixels()
    storing: Any = {"store": None, "progress": None}
    for name, spec in {
        "chargram": "chargram:?dim=256",
        "lsa": "lsa:?dim=100",
        "few": "lsa:?pairs=60&dim=50",
    }.items():
        for pair in EMOJI:
            (encoder,) = text_encoders(
                {name: f"{spec}&fit={emoji}#train"}, languages=list(pair), fit_texts=load_fit_texts
            ).values()
            rows = [names.rows_of(tag) for tag in pair]
            both = np.union1d(*rows)
            side = embed_roles(names, name, encoder, both, both, **storing).candidates
            texts = [np.asarray(side.vectors)[np.searchsorted(both, own)] for own in rows]
            known = np.flatnonzero(texts[0].any(axis=1) & texts[1].any(axis=1))
            assert (names.item[rows[0]] == names.item[rows[1]]).all()
            own = np.stack([pixels[names.item_ids[item]] for item in names.item[rows[0]]])
            first, second = (each[known] for each in texts)
            yield Problem("emoji", f"{name} {'-'.join(pair)}", (first, second), own[known], 300)


def _pixels() -> dict[str, Vectors]:
    """Return the pixels of each emoji, scaled down."""
    import pyarrow.parquet as pq
    from PIL import Image

    found: dict[str, Vectors] = {}
    for row in pq.read_table(DATA / "emoji/emoji.parquet", columns=["id", "image_png"]).to_pylist():
        png = row["image_png"]
        with Image.open(io.BytesIO(png["bytes"] if isinstance(png, dict) else png)) as image:
            small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
        found[row["id"]] = np.asarray(small, dtype=np.float32).reshape(-1)
    return found


@dataclass(frozen=True)
class Fitting:
    """What maps are fitted on."""

    nodes: Nodes
    candidates: Alike
    options: Options

    @classmethod
    def of(cls, part: Problem, items: np.ndarray, seed: int, *, known: bool) -> Fitting:
        """Return items with a text in one language each, or half of them with texts in both."""
        half = len(items) // 2
        first, second = (items[:half], items[:half]) if known else (items[:half], items[half:])
        own = np.concatenate([first, second])
        language = np.repeat([0, 1], [len(first), len(second)])
        texts = np.concatenate([part.texts[0][first], part.texts[1][second]])
        nodes = Nodes.of_rows(texts, part.image[own], language, ("a", "b"), own, own)
        return cls(nodes, alike(nodes), Options(0, near=not known, same=known, seed=seed))

    def pairs(self, text: Vectors) -> Pairs:
        """Return the pairs that a network is trained on."""
        if self.options.same:
            return same_pairs(self.nodes)
        return near_pairs(self.nodes, self.candidates, text) if self.options.near else NO_PAIRS


def measured(part: Problem, seed: int, kept: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what linear maps and networks reach, with near pairs and with known ones."""
    for pairs in ("near", "known"):
        key = f"{part.data}|{part.encoder}|{seed}|{pairs}"
        if key in kept and set(LINEAR_NAMES) <= kept[key]["linear"].keys():
            yield kept[key]
            continue
        began = time.perf_counter()
        order = np.random.default_rng(seed).permutation(len(part.image))
        items, apart = order[: -part.held_out], order[-part.held_out :]
        if part.data == "IKEA":
            items = items[:450]
        fitting = Fitting.of(part, items, seed, known=pairs == "known")
        yield {
            "key": key, "data": part.data, "encoder": part.encoder, "seed": seed, "pairs": pairs,
            **_reached(part, fitting, apart, seed),
            "seconds": round(time.perf_counter() - began, 1),
        }  # fmt: skip


def _reached(part: Problem, fitting: Fitting, apart: np.ndarray, seed: int) -> dict[str, Any]:
    nodes, options = fitting.nodes, fitting.options
    held = part.held_out
    both = np.concatenate([part.texts[0][apart], part.texts[1][apart]])
    tags = ["a"] * held + ["b"] * held
    linear, of = {}, {}
    for settings in LINEAR:
        map = fit(nodes, fitting.candidates, settings, options).map
        of[settings.name] = map
        linear[settings.name] = recall(map.apply(unit_rows(both), tags))
    best = of[BELOW]
    own, held_out = unit_rows(applied(nodes, best)), unit_rows(best.apply(unit_rows(both), tags))
    networks = {each.name: recall(trained(each, fitting, own, held_out, seed)) for each in NETWORKS}
    return {"n_pairs": len(fitting.pairs(own)), "linear": linear, "networks": networks}


def recall(both: Vectors) -> float:
    """Return XLR R@10 of n items, the mean of both ways: vectors [2n, d], one language after the other."""
    one, other = np.split(unit_rows(both), 2)
    scores = one @ other.T
    hits = []
    for each in (scores, scores.T):
        at = np.diag(each)[:, None]
        above, tied = (each > at + 1e-6).sum(axis=1), (np.abs(each - at) <= 1e-6).sum(axis=1)
        hits.append(np.clip((10 - above) / tied, 0, 1).mean())
    return round(float(np.mean(hits)), 5)


def trained(settings: Network, fitting: Fitting, own: Vectors, apart: Vectors, seed: int) -> Vectors:
    """Return the vectors `apart` [2n, d], one language after the other, through a network."""
    import torch

    nodes = fitting.nodes
    x = torch.from_numpy(np.ascontiguousarray(own))
    first, second = (torch.from_numpy(nodes.of(code)) for code in (0, 1))
    place = np.empty(len(nodes), dtype=np.int64)  # of a node among those of its language
    for code in (0, 1):
        place[nodes.of(code)] = np.arange(len(nodes.of(code)))
    seen = own
    item = torch.from_numpy(nodes.item)
    layers: list[tuple[Any, ...]] = []
    for _ in range(settings.rounds if fitting.options.near else 1):
        pairs = fitting.pairs(seen)
        layers = _layers(settings, own.shape[1], seed)
        optimizer = torch.optim.AdamW(
            [each for layer in layers for each in layer], RATE, weight_decay=settings.decay
        )
        left, right = torch.from_numpy(place[pairs.left]), torch.from_numpy(place[pairs.right])
        weight = torch.from_numpy(pairs.weight / pairs.weight.sum()).float()
        with torch.enable_grad():
            for _ in range(settings.steps):
                a, b = _through(x[first], layers[0]), _through(x[second], layers[-1])
                scores = a @ b.T / settings.temperature
                if fitting.options.near:  # texts of one item are not asked to be apart
                    scores = scores.masked_fill(item[first][:, None] == item[second][None], -1e4)
                loss = torch.nn.functional.cross_entropy
                there = loss(scores[left], right, reduction="none")
                back = loss(scores.T[right], left, reduction="none")
                optimizer.zero_grad()
                (weight @ (there + back)).backward()
                optimizer.step()
        with torch.no_grad():
            moved = torch.empty_like(x)
            moved[first], moved[second] = _through(x[first], layers[0]), _through(x[second], layers[-1])
            seen = moved.numpy()
    with torch.no_grad():
        halves = torch.from_numpy(np.ascontiguousarray(apart)).chunk(2)
        found: Vectors = torch.cat([_through(halves[0], layers[0]), _through(halves[1], layers[-1])]).numpy()
        return found


def _layers(settings: Network, dim: int, seed: int) -> list[tuple[Any, ...]]:
    """Return the weights of one network, or of one for each language."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return [
        tuple(
            each.requires_grad_()
            for each in (
                torch.randn(dim, settings.hidden, generator=generator) * (2 / dim) ** 0.5,
                torch.zeros(settings.hidden),
                torch.zeros(settings.hidden, dim),
                torch.zeros(dim),
            )
        )
        for _ in range(1 if settings.shared else 2)
    ]


def _through(x: Any, layer: tuple[Any, ...]) -> Any:
    import torch

    inner, bias, outer, shift = layer
    return torch.nn.functional.normalize(x + torch.relu(x @ inner + bias) @ outer + shift, dim=1)


def summary(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each data set, kind of pairs and network: its gain over the linear map below.

    The interval is a t interval over encoders, each the mean of its splits; `best` takes for each run the
    network that is best on the held-out items, which nobody can know.
    """
    from scipy.stats import t

    rows: list[dict[str, Any]] = []
    for data, pairs in dict.fromkeys((one["data"], one["pairs"]) for one in records):
        own = [one for one in records if (one["data"], one["pairs"]) == (data, pairs)]
        names = [*LINEAR_NAMES, *(each.name for each in NETWORKS), "best network"]
        for name in names:
            by_encoder: dict[str, list[float]] = {}
            for one in own:
                gain = _value(one, name) - one["linear"][BELOW]
                by_encoder.setdefault(one["encoder"], []).append(gain)
            gains = np.array([np.mean(each) for each in by_encoder.values()])
            every = np.array([gain for each in by_encoder.values() for gain in each])
            n = len(gains)
            half = float(t.ppf(0.975, n - 1) * gains.std(ddof=1) / n**0.5) if n > 1 else None
            rows.append(
                {
                    "data": data, "pairs": pairs, "what": name, "encoders": n, "runs": len(every),
                    "value": float(np.mean([_value(one, name) for one in own])),
                    "gain": float(gains.mean()), "half_interval": half,
                    "least": float(every.min()), "most": float(every.max()),
                    "better_runs": int((every > 0).sum()), "worse_runs": int((every < 0).sum()),
                }
            )  # fmt: skip
    return rows


def _value(record: dict[str, Any], name: str) -> float:
    if name == "best network":
        return float(max(record["networks"].values()))
    return float({**record["linear"], **record["networks"]}[name])


def main() -> None:
    """Measure what is not there yet, print the table and write the figures."""
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
                _write([*{**kept, **{one["key"]: one for one in records}}.values()], [])
    rows = summary(records)
    _write(records, rows)
    heads = ["data", "pairs", "what", "XLR R@10", "over the linear map", "least", "most", "better", "worse"]
    table("Networks over a linear map", [heads, *map(_row, rows)])


def _row(row: dict[str, Any]) -> list[str]:
    half = "" if row["half_interval"] is None else f" ± {row['half_interval']:.4f}"
    return [
        row["data"], row["pairs"], row["what"], f"{row['value']:.4f}", f"{row['gain']:+.4f}{half}",
        f"{row['least']:+.3f}", f"{row['most']:+.3f}", f"{row['better_runs']} of {row['runs']}",
        str(row["worse_runs"]),
    ]  # fmt: skip


def _write(records: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    OUT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"summary": rows, "records": records})
    text = text.replace('{"key"', '\n{"key"').replace('{"data"', '\n{"data"')
    OUT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
