"""Messages about a pattern without files name the pattern that the files there fit."""

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.encoders.patterns import fitting
from xlingual.errors import InputError

LANGUAGES = ("de", "pt-BR")
ROLES = {"query": LANGUAGES, "candidate": LANGUAGES}


def folder_of(path, pattern, roles=("questions", "candidates"), languages=LANGUAGES):
    path.mkdir(exist_ok=True)
    for role in roles:
        for language in languages:
            np.save(path / pattern.replace("{role}", role).replace("{lang}", language), np.ones((2, 2)))
    return path


def identities(spec, role_languages):
    made = text_encoders([str(spec)], languages=LANGUAGES, role_languages=role_languages)
    return [encoder.identity for encoder in made.values()]


def refusal(spec, role_languages=ROLES):
    with pytest.raises(InputError) as caught:
        identities(spec, role_languages)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("kept", ["e5.{lang}.{role}.npy", "{role}-{lang}.npy", "e5_{role}.npy"])
def test_files_of_pools(tmp_path, kept):
    folder = folder_of(tmp_path / "v", kept)
    assert f"The files there fit vectors:{folder}/{kept}" in fitting(f"{folder}/x.npy", LANGUAGES, ROLES)
    assert fitting(f"{folder}/{kept}", LANGUAGES, ROLES) == ""


def test_a_star_before_the_placeholders_is_kept(tmp_path):
    for name in ("e5", "labse-2"):
        folder = folder_of(tmp_path / "v", name + ".{lang}.{role}.npy")
    said = refusal(f"{folder}/*.{{lang}}.npy")
    assert said.endswith(
        f"fit vectors:{folder}/*.{{lang}}.{{role}}.npy ({{role}} for questions or candidates)"
    )
    assert "labse" not in said


def test_a_missing_language_is_named(tmp_path):
    folder = folder_of(tmp_path / "v", "aligned.{role}.{lang}.npy")
    said = refusal(f"{folder}/aligned.{{role}}.npy")
    assert f"fit vectors:{folder}/aligned.{{role}}.{{lang}}.npy ({{lang}} for the language of a text)" in said


def test_files_of_manifests_have_no_role(tmp_path):
    folder = folder_of(tmp_path / "v", "e5.{lang}.npy", roles=("",))
    assert f"fit vectors:{folder}/e5.{{lang}}.npy" in refusal(f"{folder}/e5.npy", None)
    assert "The files there" not in refusal(f"{folder}/e5.{{lang}}x.npy", ROLES)


def test_patterns_that_lack_a_file_are_not_named(tmp_path):
    folder = folder_of(tmp_path / "v", "e5.{lang}.{role}.npy")
    (folder / "e5.de.candidates.npy").unlink()
    assert fitting(f"{folder}/x.npy", LANGUAGES, ROLES) == ""
    only = {"query": ("de", "pt-BR"), "candidate": ("pt-BR",)}
    assert "e5.{lang}.{role}.npy" in fitting(f"{folder}/x.npy", LANGUAGES, only)
    assert fitting(f"{tmp_path}/no/x.npy", LANGUAGES, ROLES) == ""


@pytest.mark.parametrize(
    ("wrong", "right"), [("{roles}", "{role}"), ("{language}", "{lang}"), ("{Lang}", "{lang}")]
)
def test_a_misspelt_placeholder_is_put_right(tmp_path, wrong, right):
    folder = folder_of(tmp_path / "v", "e5.{lang}.{role}.npy")
    for name in ("e5", "*"):
        assert f"{wrong} is no placeholder. Did you mean {right}?" in refusal(f"{folder}/{name}.{wrong}.npy")
    assert "write {lang}" in refusal(f"{folder}/e5.{{tag}}.npy")
