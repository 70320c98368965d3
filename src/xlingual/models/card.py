"""The card of a trained model: what it is, what it was trained on, and how it is used, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def model_card(config: Mapping[str, Any]) -> str:
    """Return the card of a model, from what its `config.json` says; parts that are not there are left out."""
    kind, base = str(config["kind"]), config.get("base")
    training, data = (dict(config.get(part) or {}) for part in ("training", "data"))
    scores = {"epoch chosen by": training.pop("score", None), **dict(training.pop("scores", None) or {})}
    scored = "Sums of recalls on the validation, of 600" if kind == "mlmme" else "Scores on the validation"
    facts = {
        "languages": config["model"].get("languages"),
        "image encoder" if kind == "mlmme" else "encoder": base and f"{base['name']}, {base['dim']} dimensions",
        **data,
    }
    return "\n".join(
        [
            f"# A model of the kind {kind}",
            "",
            "Trained with `xlingual train`. Used as an encoder: `model:DIR`, where DIR is this folder"
            + (", and `model:DIR::SPEC` on top of the encoder SPEC." if base else "."),
            *_table("Data", facts),
            *_table(scored, scores),
            *_table("Training", training),
            *_table("Environment", dict(config.get("environment") or {})),
            "",
        ]
    )


def _table(title: str, values: Mapping[str, Any]) -> list[str]:
    """Return a section with a row for each value that there is, none where there is no value."""
    rows = [f"| {name} | {_cell(value)} |" for name, value in values.items() if value is not None]
    return ["", f"## {title}", "", "| | |", "|---|---|", *rows] if rows else []


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_cell(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_cell(part) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return " ".join(str(value).split()).replace("|", "\\|")
