import os
import re

import pytest

from xlingual.errors import InputError
from xlingual.regular import regular_file


def test_a_file_and_a_link_to_one_are_returned(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    assert regular_file(tmp_path / "file", "the list") == tmp_path / "file"
    assert regular_file(str(tmp_path / "link"), "the list") == tmp_path / "link"


def test_what_has_no_end_or_waits_is_refused_without_being_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    for name, kind in (("pipe", "a named pipe"), ("zeros", "a device"), (".", "a folder")):
        sentence = f"is {kind}: the list must be a regular file"
        with pytest.raises(InputError, match=sentence):
            regular_file(tmp_path / name, "the list")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("absent", "absent is missing: the list must be a file that exists"),
        ("n" * 300, "the list cannot be read: File name too long"),
        ("zero\0byte", "the list cannot be read: embedded null byte"),
    ],
)
def test_what_cannot_be_looked_at_is_told_in_one_line(tmp_path, name, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        regular_file(tmp_path / name, "the list")
