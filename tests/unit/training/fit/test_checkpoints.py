"""A crash at any moment leaves a checkpoint to continue from; other settings and damage are refused."""

import os
import shutil

import pytest

torch = pytest.importorskip("torch")

from xlingual.errors import InputError  # noqa: E402
from xlingual.training.checkpoints import Checkpoints, refuse  # noqa: E402
from xlingual.training.loop import FitOptions, ValidationScores, fit  # noqa: E402


class CrashError(BaseException):
    """The machine stops here."""


class Crashing:
    """Counts every touch of the disk while a checkpoint or log is written, and crashes at one of them."""

    def __init__(self, patch, at):
        self.left = at
        for name in ("fsync", "replace", "unlink"):
            patch.setattr(os, name, self.counted(getattr(os, name)))

    def counted(self, real):
        def touch(*arguments, **more):
            self.left -= 1
            if self.left == 0:
                raise CrashError
            done = real(*arguments, **more)
            self.left -= 1
            if self.left == 0:  # after it, too
                raise CrashError
            return done

        return touch


def test_a_crash_at_any_moment_loses_nothing_that_was_whole(toy, tmp_path, log_of):
    """Whatever is touched last, continuing gives the very weights and log of an undisturbed training."""
    options = FitOptions(epochs=3, rate=0.02)
    whole = toy(n=16)
    fit(whole, options, tmp_path / "whole", settings={}, validate=whole.validate)
    wanted, at, crashed = log_of(tmp_path / "whole"), 0, True
    begun = 0
    while crashed:
        at += 1
        folder = tmp_path / str(at)
        recipe = toy(n=16)
        with pytest.MonkeyPatch.context() as patch:
            Crashing(patch, at)
            try:
                fit(recipe, options, folder, settings={}, validate=recipe.validate)
                crashed = False
            except CrashError:
                pass
        again = toy(n=16)
        resume = Checkpoints(folder).exists()
        begun += not resume
        fitted = fit(again, options, folder, settings={}, validate=again.validate, resume=resume)
        assert log_of(folder) == wanted
        assert fitted.best_epoch == max(line["epoch"] for line in wanted if line["best"])
        for name, value in whole.model.state_dict().items():
            assert torch.equal(fitted.model.state_dict()[name], value), (at, name)
        shutil.rmtree(folder)
    assert at > 20 and 2 < begun < at / 2  # crashes in all three epochs, some before the first was over


def test_the_best_epoch_is_kept_without_what_the_optimizer_remembers(toy, tmp_path):
    from safetensors.torch import load_file

    def validate(model, epoch):
        return ValidationScores(-abs(epoch - 2))

    fitted = fit(toy(), FitOptions(epochs=4), tmp_path, settings={}, validate=validate)
    best, last = (load_file(tmp_path / "checkpoint" / f"{name}.safetensors") for name in ("best", "last"))
    weights = fitted.model.state_dict()
    assert best.keys() == {f"model/{name}" for name in weights} < last.keys()
    assert all(torch.equal(best[f"model/{name}"], weight) for name, weight in weights.items())
    assert os.stat(tmp_path / "checkpoint" / "best.safetensors").st_mode & 0o777 == 0o644


def test_more_epochs_are_refused_where_the_rate_depends_on_them(toy, tmp_path):
    fit(toy(), FitOptions(epochs=2, schedule="cosine"), tmp_path, settings={})
    with pytest.raises(InputError, match="epochs was 2 and is 3"):
        fit(toy(), FitOptions(epochs=3, schedule="cosine"), tmp_path, settings={}, resume=True)
    assert fit(toy(), FitOptions(epochs=2, schedule="cosine"), tmp_path, settings={}, resume=True).epochs == 2


def test_nothing_to_continue_and_nothing_overwritten(toy, tmp_path):
    with pytest.raises(InputError, match="no checkpoint to continue from"):
        fit(toy(), FitOptions(epochs=1), tmp_path, settings={}, resume=True)
    fit(toy(), FitOptions(epochs=1), tmp_path, settings={})
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="already has a training that was interrupted"):
        fit(toy(), FitOptions(epochs=1), tmp_path, settings={})
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="already has a model"):
        fit(toy(), FitOptions(epochs=1), tmp_path, settings={})
    with pytest.raises(InputError, match="not both"):
        refuse(tmp_path, resume=True, replace=True)
    assert all(path.read_bytes() == content for path, content in before.items())
    replaced = toy(seed=1)
    fit(replaced, FitOptions(epochs=2), tmp_path, settings={"other": True}, replace=True)
    assert len(replaced.seen) == 10


@pytest.mark.parametrize("name", ["README.md", "model.safetensors", "config.json"])
def test_files_of_others_are_never_replaced(toy, tmp_path, name):
    for content in ('{"schema": "other/1"}', "mine"):
        (tmp_path / name).write_text(content)
        for replace in (False, True):
            with pytest.raises(InputError, match=f"has a {name} that no training wrote"):
                fit(toy(), FitOptions(epochs=1), tmp_path, settings={}, replace=replace)
        assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, content)]


def test_the_callback_gets_every_line_of_the_log(toy, tmp_path, log_of):
    lines = []
    fit(toy(), FitOptions(epochs=3), tmp_path, settings={}, on_log=lines.append)
    assert [{**line, "seconds": 0} for line in lines] == [{**line, "seconds": 0} for line in log_of(tmp_path)]
    assert [line["epoch"] for line in lines] == [1, 2, 3]

    def stop(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(toy(), FitOptions(epochs=5), tmp_path, settings={}, on_log=stop, resume=True)
    assert len(log_of(tmp_path)) == 4
    assert fit(toy(), FitOptions(epochs=5), tmp_path, settings={}, resume=True).epochs == 5


@pytest.mark.parametrize("content", [b"half", None, "other"])
def test_damage_is_reported_in_a_line(toy, tmp_path, content):
    from safetensors.torch import save_file

    fit(toy(), FitOptions(epochs=1), tmp_path, settings={})
    path = tmp_path / "checkpoint" / "last.safetensors"
    if content == "other":
        save_file({"a": torch.zeros(1)}, path, {"state": "{}"})
    elif content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"cannot be read|no checkpoint") as caught:
        fit(toy(), FitOptions(epochs=2), tmp_path, settings={}, resume=True)
    assert "\n" not in str(caught.value)


def test_a_full_disk_is_reported_in_a_line_and_the_checkpoint_stays(toy, tmp_path, monkeypatch):
    fit(toy(), FitOptions(epochs=1), tmp_path, settings={})

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(InputError, match=r"cannot be written .*No space left"):
            fit(toy(), FitOptions(epochs=2), tmp_path, settings={}, resume=True)
    assert Checkpoints(tmp_path).read()[0].epoch == 1
