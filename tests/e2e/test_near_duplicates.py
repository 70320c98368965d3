"""Near-duplicates on the command line: put into clusters, refused by another name, counted by data check."""

from __future__ import annotations

import json
from typing import Any

ROWS = [
    {"id": f"{name}-{colour}", "text_en": f"{name} {colour}", "text_de": f"{german} {colour}"}
    for name, german in (
        ("folding garden chair with armrests of oiled acacia", "klappbarer gartenstuhl aus akazie"),
        ("heavy frying pan of cast iron for induction hobs", "schwere bratpfanne aus gusseisen"),
        ("hand woven rug of virgin wool with long fringes", "handgewebter teppich aus schurwolle"),
        ("brass desk lamp whose light bulb can be dimmed", "dimmbare leuchte aus messing"),
        ("pair of sheer linen curtains for small windows", "zwei durchsichtige vorhänge aus leinen fürs bad"),
    )
    for colour in ("red", "blue", "teal", "grey", "pink")
]


def shop(work: Any) -> str:
    (work / "shop.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return "shop.jsonl"


def test_an_option_puts_them_into_one_cluster(xlingual: Any, work: Any) -> None:
    common = (
        "evaluate",
        "xlr",
        shop(work),
        "--text-encoder",
        "chargram",
        "--pairs",
        "en-de",
        "--measure",
        "RR",
    )
    plain = json.loads(xlingual(*common, "--json").out)
    outcome = xlingual(*common, "--json", "--cluster", "near-duplicates")
    found = json.loads(outcome.out)
    assert outcome.code == 0 and outcome.warnings == []
    assert found["diagnostics"]["near_duplicates"]["n_joined"] == 5
    assert found["diagnostics"]["near_duplicates"]["largest_share"] == 0.2  # five items always may be one
    before, after = plain["results"][0], found["results"][0]
    assert before["value"] == after["value"] and before["ci"] != after["ci"]
    assert "|clusters:near-duplicates|" in after["signature"] and "clusters" not in before["signature"]
    assert any("25 of 25 items have near-equal texts" in warning for warning in plain["warnings"])


def test_another_name_is_refused(bkr: Any) -> None:
    outcome = bkr("--cluster", "lines")
    assert outcome.code == 2
    assert "--cluster lines: expected declared or near-duplicates" in outcome.err


def test_data_check_counts_them_with_examples(xlingual: Any, work: Any) -> None:
    manifest = shop(work)
    outcome = xlingual("data", "check", manifest)
    assert "of 25 items looked at, 5 clusters" in outcome.out
    (told,) = [line for line in outcome.err.splitlines() if "near-equal" in line]
    assert told.startswith("warning: 25 of 25 items have near-equal texts") and "20.0%" in told
    assert "such as: 'heavy frying pan" in told
    found = json.loads(xlingual("data", "check", manifest, "--json").out)
    (finding,) = [one for one in found["findings"] if one["kind"] == "near-duplicates"]
    assert found["near_duplicates"]["n_near"] == finding["count"] == 25


def test_data_check_compares_images_too(xlingual: Any) -> None:
    found = json.loads(xlingual("data", "check", "s", "--json").out)
    assert 0 < found["near_duplicates"]["least_cosine"] < 1 and found["near_duplicates"]["n_units"] == 120
