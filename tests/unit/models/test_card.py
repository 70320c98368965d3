"""The card of a model says what config.json says, and nothing where it says nothing."""

from __future__ import annotations

from xlingual.models.card import model_card

WHOLE = {
    "kind": "mlmme",
    "model": {"languages": ["en", "de"]},
    "base": {"name": "a|b", "identity": "pixels:v1", "dim": 2136},
    "training": {"beta": 0.5, "clip": None, "score": 204.99999999999997, "scores": {"image-en": 203.3}},
    "data": {"source": "scenes.parquet", "texts": {"en": 270, "de": 269}},
    "environment": {"torch": "2.5"},
}


def test_a_card_has_what_the_config_has():
    card = model_card(WHOLE)
    rows = (
        "| languages | en, de |",
        "| image encoder | a\\|b, 2136 dimensions |",
        "| texts | en 270, de 269 |",
        "| epoch chosen by | 205 |",
        "| image-en | 203.3 |",
        "| beta | 0.5 |",
        "| torch | 2.5 |",
    )
    for row in rows:
        assert row in card.splitlines()
    assert "`model:DIR::SPEC`" in card and "clip" not in card


def test_what_is_not_there_is_left_out():
    card = model_card({"kind": "mlmme", "model": {}, "base": None})
    assert "##" not in card and "None" not in card and "::" not in card
