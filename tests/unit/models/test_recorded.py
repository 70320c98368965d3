"""Options that say where a training ran are options."""

from xlingual.models.card import ANYWHERE
from xlingual.training.options import FitOptions
from xlingual.training.recipes.mlmme_options import MlmmeOptions
from xlingual.training.recipes.triplet_options import TripletOptions


def test_where_it_ran_is_an_option():
    today = {
        **TripletOptions().settings(),
        **MlmmeOptions(("en", "de")).settings(),
        **FitOptions().settings(),
    }
    assert set(today) >= ANYWHERE
