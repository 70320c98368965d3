"""Options and presets: what they must be, and that wrong ones raise an error of one line."""

import subprocess
import sys

import pytest

from xlingual.training.options import FitOptions
from xlingual.training.recipes.mlmme_options import FIT_PRESETS, PRESETS, MlmmeOptions


def test_the_paper():
    options = MlmmeOptions.preset("paper", ("en", "de"))
    assert options.settings() == {
        "languages": ["en", "de"],
        "beta": 0.5,
        # section 2: encoders share no parameters, equations 1 to 3, and where contrastive terms come from
        "text_map": "per-language",
        "project_text": True,
        "picture_bias": False,
        "unit_pictures": False,
        "standardize_pictures": False,
        "pairs": "ordered-sum",
        "contrast": "random",
        "redraw": "instance",
        # section 4
        "word_dim": 620,
        "state_dim": 1024,
        "joint_dim": 2048,
        "initial": "paper",
        "dropout": 0.5,
        "margin": 0.2,
        "batch": 128,
        "threshold": 1,
        "most_words": None,
        # not in the paper
        "contrastive": 10,
        "max_length": 100,
        "pretokenized": False,
        "seed": 0,
    }
    assert FitOptions(**FIT_PRESETS["paper"]).optimizer == "adam"
    changed = MlmmeOptions.preset("paper", ("en", "de", "fr"), text_map="shared", pairs="mean")
    assert (changed.text_map, changed.pairs, changed.redraw) == ("shared", "mean", "instance")


def test_the_defaults_are_ours():
    options = MlmmeOptions(("en", "de"))
    assert (options.word_dim, options.state_dim, options.joint_dim) == (620, 1024, 2048)
    assert (options.dropout, options.margin, options.batch) == (0.5, 0.2, 128)
    assert (options.contrast, options.pairs, options.initial) == ("random", "sum", "paper")
    assert options.threshold == 1 and options.most_words is None  # "estimated over the entire vocabulary"


def test_presets():
    vse = MlmmeOptions.preset("vse", ("en",))
    assert vse.beta == 1 and vse.contrast == "in-batch" and not vse.hardest and not vse.project_text
    assert (vse.word_dim, vse.state_dim, vse.joint_dim, vse.dropout) == (300, 1024, 1024, 0.0)
    vsepp = MlmmeOptions.preset("vsepp", ("en",), batch=64)
    assert vsepp.hardest and vsepp.unit_pictures and vsepp.batch == 64
    assert MlmmeOptions.preset("mlmme", ("en", "de")) == MlmmeOptions(("en", "de"))
    assert set(PRESETS) == set(FIT_PRESETS)
    schedule = FitOptions(**FIT_PRESETS["vsepp"])
    assert schedule.rate_at(15, 0, 10) == pytest.approx(2e-4)
    assert schedule.rate_at(16, 0, 10) == pytest.approx(2e-5)


def test_options_need_no_torch():
    code = "import sys, xlingual.training.recipes.mlmme_options as o; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
