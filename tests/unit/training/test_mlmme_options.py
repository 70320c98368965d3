"""Options and presets: what they must be, and that wrong ones raise an error of one line."""

import subprocess
import sys

import pytest

from xlingual.training.options import FitOptions
from xlingual.training.recipes.mlmme_options import FIT_PRESETS, PRESETS, MlmmeOptions


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
