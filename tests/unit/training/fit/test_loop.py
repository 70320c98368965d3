"""The fit loop: what is trained, which epoch is kept, when it stops, and what it leaves alone."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.errors import InputError  # noqa: E402
from xlingual.streams import stream  # noqa: E402
from xlingual.training.loop import FitOptions, ValidationScores, fit  # noqa: E402


def weights(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_it_learns_and_equals_a_loop_by_hand(toy, tmp_path):
    """Plain torch with the same batches and random numbers gives the same weights."""
    recipe = toy()
    fitted = fit(recipe, FitOptions(epochs=3, rate=0.01, clip=1.0), tmp_path, settings={})
    by_hand = toy()
    adam = torch.optim.Adam(by_hand.model.parameters(), lr=0.01)
    for epoch in (1, 2, 3):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(stream(0, f"epoch {epoch}").integers(2**63)))
            for batch in by_hand.batches(epoch):
                adam.zero_grad()
                by_hand.loss(batch).value.backward()
                torch.nn.utils.clip_grad_norm_(by_hand.model.parameters(), 1.0)
                adam.step()
    assert fitted.best_epoch == fitted.epochs == 3 and fitted.best_score is None
    for name, value in by_hand.model.state_dict().items():
        torch.testing.assert_close(fitted.model.state_dict()[name], value, rtol=1e-5, atol=1e-6)
    learned = fit(toy(dropout=0.0), FitOptions(epochs=60, rate=0.03), tmp_path / "b", settings={})
    assert mse(toy(), learned.model) < 1e-3


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_continued_training_is_equal_bit_for_bit(toy, tmp_path, log_of, cut):
    options = {"rate": 0.02, "clip": 5.0, "weight_decay": 0.01, "warmup": 0.5, "schedule": "step:2:0.5"}
    whole = toy()
    fit(whole, FitOptions(epochs=4, **options), tmp_path / "a", settings={"n": 1}, validate=whole.validate)
    first, second = toy(), toy()
    folder = tmp_path / "b"
    fit(first, FitOptions(epochs=cut, **options), folder, settings={"n": 1}, validate=first.validate)
    fitted = fit(
        second,
        FitOptions(epochs=4, **options),
        folder,
        settings={"n": 1},
        validate=second.validate,
        resume=True,
    )
    assert equal(weights(fitted.model), weights(whole.model))
    assert log_of(folder) == log_of(tmp_path / "a") and len(log_of(folder)) == 4
    assert [epoch for epoch, _ in second.seen] == [e for e in range(cut + 1, 5) for _ in range(5)]
    from safetensors.torch import load_file

    assert equal(*(load_file(f / "checkpoint/last.safetensors") for f in (folder, tmp_path / "a")))


def test_adam_remembers_where_it_was(toy, tmp_path):
    """Without the optimiser's memory a continued training would differ: the test above can fail."""
    fit(toy(), FitOptions(epochs=2), tmp_path, settings={})
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    path = tmp_path / "checkpoint/last.safetensors"
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    forgotten = {name: value * name.startswith("model/") for name, value in load_file(path).items()}
    save_file(forgotten, path, metadata)
    forgot, whole = toy(), toy()
    fit(forgot, FitOptions(epochs=3), tmp_path, settings={}, resume=True)
    fit(whole, FitOptions(epochs=3), tmp_path / "whole", settings={})
    assert not equal(weights(forgot.model), weights(whole.model))


def mse(recipe, model):
    with torch.no_grad():
        return -recipe.validate(model, 0).value


def scripted(values):
    """Return a validation that gives these scores, one for each epoch, and the weights that it saw."""
    seen = {}

    def validate(model, epoch):
        seen[epoch] = weights(model)
        return ValidationScores(values[epoch - 1])

    return validate, seen


def test_the_best_epoch_is_kept_and_patience_ends_the_training(toy, tmp_path, log_of):
    validate, seen = scripted([1.0, 3.0, 2.0, 3.0, 2.9, 9.0])
    fitted = fit(toy(), FitOptions(epochs=6, patience=3), tmp_path, settings={}, validate=validate)
    assert (fitted.stopped, fitted.epochs, fitted.best_epoch, fitted.best_score) == ("patience", 5, 2, 3.0)
    assert equal(weights(fitted.model), seen[2]) and not equal(seen[2], seen[5])
    assert [line["best"] for line in log_of(tmp_path)] == [True, True, False, False, False]
    assert not fitted.model.training

    again = fit(
        toy(), FitOptions(epochs=6, patience=3), tmp_path, settings={}, validate=validate, resume=True
    )
    assert (again.stopped, again.epochs) == ("patience", 5) and equal(weights(again.model), seen[2])
    more = fit(toy(), FitOptions(epochs=6, patience=9), tmp_path, settings={}, validate=validate, resume=True)
    assert (more.stopped, more.epochs, more.best_epoch) == ("epochs", 6, 6)


def test_the_last_epoch_is_kept_where_that_is_asked_for(toy, tmp_path):
    validate, seen = scripted([1.0, 3.0, 2.0])
    options = FitOptions(epochs=3, patience=None, keep_epoch="last")
    fitted = fit(toy(), options, tmp_path, settings={}, validate=validate)
    assert (fitted.best_epoch, fitted.kept_epoch, fitted.epochs) == (2, 3, 3)
    assert equal(weights(fitted.model), seen[3]) and not equal(seen[2], seen[3])
    best = fit(
        toy(),
        options.changed(keep_epoch="best"),
        tmp_path,
        settings={},
        validate=validate,
        resume=True,
    )
    assert (best.kept_epoch, best.epochs) == (2, 3) and equal(weights(best.model), seen[2])


def test_the_callers_random_numbers_and_threads_are_untouched(toy, tmp_path):
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    fit(toy(), FitOptions(epochs=1, threads=2), tmp_path, settings={})
    assert torch.equal(torch.get_rng_state(), state) and torch.get_num_threads() == threads
    torch.manual_seed(99)  # and the caller's seed changes nothing inside
    other, first = toy(), toy()
    fit(other, FitOptions(epochs=1), tmp_path / "b", settings={})
    torch.manual_seed(5)
    fit(first, FitOptions(epochs=1), tmp_path / "c", settings={})
    assert equal(weights(other.model), weights(first.model))
    another = toy()
    fit(another, FitOptions(epochs=1, seed=1), tmp_path / "d", settings={})
    assert not equal(weights(another.model), weights(first.model))


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_good_checkpoint(toy, tmp_path, log_of):
    spoilt = toy(
        spoil=lambda epoch, number: (lambda loss: loss * math.nan) if (epoch, number) == (3, 4) else None
    )
    with pytest.raises(InputError) as caught:
        fit(spoilt, FitOptions(epochs=5), tmp_path, settings={}, validate=spoilt.validate)
    message = str(caught.value)
    assert "loss is nan at epoch 3, batch 4 of 5 (with row" in message and "\n" not in message
    assert len(log_of(tmp_path)) == 2
    good = toy()
    kept = fit(good, FitOptions(epochs=2), tmp_path, settings={}, validate=good.validate, resume=True)
    assert kept.epochs == 2 and good.seen == []
    assert -mse(good, kept.model) == kept.best_score
    mended = toy()
    fit(mended, FitOptions(epochs=5), tmp_path, settings={}, validate=mended.validate, resume=True)
    whole = toy()
    fit(whole, FitOptions(epochs=5), tmp_path / "b", settings={}, validate=whole.validate)
    assert equal(weights(mended.model), weights(whole.model))


def test_a_gradient_that_is_no_number_stops_before_the_weights_change(toy, tmp_path):
    def root_of_zero(loss):  # 0, with an infinite slope
        return torch.sqrt(loss * 0)

    for clip in (None, 1.0):
        recipe = toy(spoil=lambda epoch, number: root_of_zero if number == 1 else None)
        before = weights(recipe.model)
        with pytest.raises(
            InputError, match=r"norm of the gradient is nan at epoch 1, batch 1.*no epoch was over"
        ):
            fit(recipe, FitOptions(epochs=2, clip=clip), tmp_path / str(clip), settings={})
        assert equal(weights(recipe.model), before)
        assert list((tmp_path / str(clip)).iterdir()) == []  # nor is a log of nothing left


def test_weights_without_a_gradient_and_batches_without_a_loss_do_no_harm(toy, tmp_path):
    """A language that no batch of an epoch has: its weights stay, also over a continued training."""

    def made():
        recipe = toy(spoil=lambda epoch, number: torch.Tensor.detach if number == 2 else None)
        recipe.model.unused = torch.nn.Linear(2, 2)
        torch.nn.init.ones_(recipe.model.unused.weight)
        torch.nn.init.ones_(recipe.model.unused.bias)
        recipe.model.forward = lambda x: recipe.model[2](recipe.model[1](recipe.model[0](x)))
        for weight in recipe.model[0].parameters():
            weight.requires_grad_(False)
        return recipe

    first, whole, before = made(), made(), weights(made().model)
    fit(first, FitOptions(epochs=1), tmp_path, settings={})
    second = made()
    fit(second, FitOptions(epochs=2), tmp_path, settings={}, resume=True)
    fit(whole, FitOptions(epochs=2), tmp_path / "b", settings={})
    after = weights(second.model)
    assert equal(after, weights(whole.model))
    assert torch.equal(after["unused.weight"], torch.ones(2, 2))
    assert torch.equal(after["0.weight"], before["0.weight"])
    assert not torch.equal(after["2.weight"], before["2.weight"])


def test_products_in_bfloat16_on_a_cpu(toy, tmp_path):
    plain, mixed = toy(dropout=0.0), toy(dropout=0.0)
    for recipe, precision in ((plain, "float32"), (mixed, "bfloat16")):
        options = FitOptions(epochs=40, rate=0.03, precision=precision)
        fit(recipe, options, tmp_path / precision, settings={}, validate=recipe.validate)
    assert not equal(weights(plain.model), weights(mixed.model))
    assert all(value.dtype == torch.float32 for value in weights(mixed.model).values())
    assert mse(mixed, mixed.model) < 0.1


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
def test_weight_decay_is_the_kind_that_was_chosen(toy, tmp_path, optimizer):
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[optimizer]
    recipe, by_hand = toy(n=8, dropout=0.0), toy(n=8, dropout=0.0)
    fit(recipe, FitOptions(epochs=1, optimizer=optimizer, weight_decay=0.3), tmp_path, settings={})
    adam = kind(by_hand.model.parameters(), lr=1e-3, weight_decay=0.3)
    by_hand.loss(next(by_hand.batches(1))).value.backward()
    adam.step()
    for name, value in by_hand.model.state_dict().items():
        torch.testing.assert_close(recipe.model.state_dict()[name], value)


def test_the_log_has_means_per_positive(toy, tmp_path, log_of):
    recipe, by_hand = toy(n=21, dropout=0.0), toy(n=21, dropout=0.0)
    fit(recipe, FitOptions(epochs=1, rate=1e-12), tmp_path, settings={}, validate=recipe.validate)
    (line,) = log_of(tmp_path)
    error = (by_hand.model(by_hand.x).squeeze(1) - by_hand.y).detach().numpy()
    assert line["loss"] == pytest.approx(np.mean(error**2), rel=1e-5)
    assert line["parts"]["l1"] == pytest.approx(np.mean(np.abs(error)), rel=1e-5)
    assert (line["epoch"], line["steps"], line["rate"], line["best"]) == (1, 3, 1e-12, True)
    assert line["validation"]["parts"]["mse"] == -line["validation"]["score"]
