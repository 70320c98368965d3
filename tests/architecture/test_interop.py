"""`make test-interop` fails where a library is missing, which the usual suite skips."""

import re
from pathlib import Path

import pytest
from tests.interop.conftest import required

ROOT = Path(__file__).parents[2]


def test_a_missing_library_is_an_error_there():
    assert required("json").loads("1") == 1
    with pytest.raises(ImportError, match=r"could not import 'no_such_library'.*the extra interop"):
        required("no_such_library")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^test-interop:.*\n\t(.+)", makefile, re.MULTILINE)
    variable = recipe.partition("=")[0]
    assert f'os.environ.get("{variable}")' in Path(required.__code__.co_filename).read_text(encoding="utf-8")
