"""Options that came later change nothing that trainings recorded before."""

from xlingual.models.recorded import ANYWHERE, LATER, as_before, complete
from xlingual.training.options import FitOptions
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.training.recipes.triplet_options import TripletOptions


def test_a_record_of_before_is_completed_and_a_new_one_is_as_before():
    old = {"margin": 0.2, "epochs": 3}
    assert complete(old) == {**old, **LATER}
    assert as_before(complete(old)) == old
    changed = {**old, "text_map": "per-language", "redraw": "epoch"}
    assert as_before(changed) == changed and complete(changed).items() >= changed.items()


def test_all_are_options_and_those_of_before_are_the_defaults():
    today = {
        **TripletOptions().settings(),
        **MlmmeOptions(("en", "de")).settings(),
        **FitOptions().settings(),
    }
    assert {name: today[name] for name in LATER} == LATER
    assert set(today) >= ANYWHERE
