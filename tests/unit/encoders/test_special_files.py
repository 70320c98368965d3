"""Devices and pipes where a file is expected: the error says what is there, and nothing is read."""

import os

import pytest

from xlingual.encoders import text_encoders
from xlingual.errors import InputError

SPECS = {
    "v.npy": "vectors:{path}",
    "w.vec": "wordvec:{path}",
    "d.tsv": "translate:{path}::random",
    "f.py": "python:{path}:f",
}


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_that_names_a_pipe(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name} is a named pipe: .* must be a regular file"):
        text_encoders(SPECS[name].format(path=tmp_path / name), languages=["en", "de"])


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_that_names_a_link_to_a_device(tmp_path, name):
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(InputError, match=f"{name} is a device: .* must be a regular file"):
        text_encoders(SPECS[name].format(path=tmp_path / name), languages=["en", "de"])
