"""What all tests share: where the real data is, and how hypothesis runs."""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile("xlingual", deadline=None, max_examples=50)
settings.load_profile("xlingual")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of programs that a shell starts with &
    signal.signal(signal.SIGINT, signal.default_int_handler)


def real_data_folder():
    """Return the folder of the real data: XLINGUAL_DATA, else ../shared/data beside the repository."""
    return Path(os.environ.get("XLINGUAL_DATA") or ROOT.parent / "shared" / "data")


def pytest_report_header():
    folder = real_data_folder()
    found = f"found in {folder}" if folder.is_dir() else f"not in {folder}: tests that need it are skipped"
    return f"real data (XLINGUAL_DATA): {found}"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give the tests of a file to one process: what they share is made once.

    Tests at full size, which take minutes each and share nothing, are given out one by one.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return nodeid if "_at_full_size_" in nodeid else super()._split_scope(nodeid)

    return Scheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let nobody look for garbage among modules and thousands of tests, which all stay."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


def pytest_collection_modifyitems(config, items):
    properties = set()
    leave_cases_to_the_slow_run(items)
    for item in items:
        if "real_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.data)
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.examples)
            properties.add(getattr(item.obj, "__func__", item.obj))
        elif "full" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.examples)
    if is_fast(config):
        for test in properties:
            try_few_examples(test)


def leave_cases_to_the_slow_run(items):
    """Mark all but `n` cases of a test that has the marker `cases(n)` as slow, evenly over all of them."""
    cases = {}
    for item in items:
        marker = item.get_closest_marker("cases")
        if marker and not item.get_closest_marker("slow"):
            cases.setdefault((item.parent.nodeid, item.originalname, marker.args[0]), []).append(item)
    for (_, _, n), of_test in cases.items():
        stay = {i * len(of_test) // n for i in range(n)}
        for i, item in enumerate(of_test):
            if i not in stay:
                item.add_marker(pytest.mark.slow)


def is_fast(config):
    """Say whether slow tests are left out, as `make test` does."""
    return "not slow" in config.option.markexpr


def try_few_examples(test):
    """Let the fast run try a twentieth of a property's examples; `-m 'slow or examples'` tries them all."""
    meant = test._hypothesis_internal_use_settings  # where @settings and @given leave them
    few = min(meant.max_examples, max(3, meant.max_examples // 20))
    test._hypothesis_internal_use_settings = settings(meant, max_examples=few)


@pytest.fixture(scope="session")
def full(request):
    """Say whether a test tries all that it can: in the fast run it takes fewer or smaller cases."""
    return not is_fast(request.config)


@pytest.fixture(scope="session", autouse=True)
def _own_store(tmp_path_factory):
    """Keep the vectors of all tests in a folder of their own: never in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLINGUAL_STORE", str(tmp_path_factory.mktemp("store")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _few_replicates(request):
    """Draw a tenth of the replicates of validations in the fast run; marks no test as `full` does."""
    if not is_fast(request.config):
        yield
        return
    from xlingual.evaluation.metric_validation import agreement

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "REPLICATES", 200)
        yield


@pytest.fixture(scope="session", autouse=True)
def _templates_compiled_once():
    """Keep what Jinja makes of a template: each page and each server would compile all of theirs again."""
    import jinja2

    compiled, compile_ = {}, jinja2.Environment.compile

    def kept(self, source, *arguments, **options):
        how = (self.autoescape, self.trim_blocks, self.lstrip_blocks, self.undefined)
        key = (source, arguments, tuple(options.items()), how)
        if key not in compiled:
            compiled[key] = compile_(self, source, *arguments, **options)
        return compiled[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja2.Environment, "compile", kept)
        yield


@pytest.fixture(scope="session")
def real_data():
    """Give the folder of the real data; skip where it is absent."""
    folder = real_data_folder()
    if not folder.is_dir():
        pytest.skip(f"the real data is not in {folder}; set XLINGUAL_DATA to its folder")
    return folder
