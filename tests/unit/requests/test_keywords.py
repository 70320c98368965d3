"""The written-out keywords of Python functions are the fields of their requests, with the same defaults."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module

import click
import pytest

from xlingual.cli.from_request import RequestCommand
from xlingual.cli.main import xlingual
from xlingual.requests import leaves, schema
from xlingual.requests.comparing import CompareRequest, GateRequest, JudgedRuns, PlanRequest
from xlingual.requests.evaluating import (
    BackretrievalRequest,
    CrosslingualRetrievalRequest,
    DistanceCorrelationRequest,
    ImageSentenceRequest,
    MultilingualPoolRequest,
    RetrievalRequest,
    StsRequest,
)
from xlingual.requests.rerank import FeaturesRequest, ScoreRequest, TuneRequest
from xlingual.requests.single import EmbedRequest
from xlingual.requests.validating import ValidateRequest
from xlingual.training.requests import DualEncoderRequest, MlmmeRequest, TripletRequest

FUNCTIONS = {
    BackretrievalRequest: "xlingual:backretrieval",
    CrosslingualRetrievalRequest: "xlingual:crosslingual_retrieval",
    DistanceCorrelationRequest: "xlingual:distance_correlation",
    MultilingualPoolRequest: "xlingual:multilingual_pool",
    RetrievalRequest: "xlingual:retrieval",
    ImageSentenceRequest: "xlingual:image_sentence",
    StsRequest: "xlingual:sts",
    ValidateRequest: "xlingual:validate_backretrieval",
    CompareRequest: "xlingual:compare",
    GateRequest: "xlingual:gate",
    PlanRequest: "xlingual:plan",
    TuneRequest: "xlingual.nbest.tune:tune",
}
OPENED = {"store", "threads", "ranker", "progress"}  # what the command line opens, or chooses by the machine
# keywords of Python alone; lists and settings are read from what the request names
PYTHON_ONLY = {"threshold", "references", "lists", "settings"}
OTHERWISE = {("trec_depth", 1000, None)}  # the option shows whether it was given


@pytest.mark.parametrize("kind", FUNCTIONS, ids=lambda kind: kind.command)
def test_keywords_are_fields(kind):
    module, name = FUNCTIONS[kind].split(":")
    fields = leaves(kind)
    for keyword in inspect.signature(getattr(import_module(module), name)).parameters.values():
        if keyword.name in OPENED | PYTHON_ONLY or keyword.kind is inspect.Parameter.VAR_KEYWORD:
            continue  # the last are how a manifest is read
        field = fields[keyword.name]
        default = field.default() if callable(field.default) else field.default
        if keyword.default is inspect.Parameter.empty:
            assert field.required, keyword.name
        elif (keyword.name, keyword.default, default) not in OTHERWISE:
            assert default == keyword.default, keyword.name


@pytest.mark.parametrize("kind", FUNCTIONS, ids=lambda kind: kind.command)
def test_fields_that_change_a_number_are_keywords(kind):
    """All but how a manifest or a pool is read."""
    module, name = FUNCTIONS[kind].split(":")
    keywords = set(inspect.signature(getattr(import_module(module), name)).parameters)
    beside = {"split", "rows", "drop_shared_images", "languages"}
    beside |= {"results"}
    beside |= {
        "nbest",
        "algorithm",
        "c",
        "decay",
        "epochs",
        "no_shuffle",
        "background",
        "precision",
        "average",
    }
    if kind in (CompareRequest, GateRequest):
        beside |= set(leaves(JudgedRuns))  # runs are evaluated before results are compared
    for key, field in leaves(kind).items():
        if not field.marks.run and not key.endswith("_column") and key not in beside:
            assert key in keywords, key


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        (MlmmeRequest, "xlingual:train_mlmme"),
        (TripletRequest, "xlingual:train_triplet"),
        (DualEncoderRequest, "xlingual:train_dual_encoder"),
        (EmbedRequest, "xlingual.workflows.embed:embed"),
        (ScoreRequest, "xlingual.nbest.score:score"),
        (FeaturesRequest, "xlingual.nbest.features:add_features"),
    ],
)
def test_keywords_that_are_fields_have_their_defaults(kind, function):
    """Of functions that take settings as records, or what files hold."""
    module, name = function.split(":")
    fields = leaves(kind)
    shared = 0
    for keyword in inspect.signature(getattr(import_module(module), name)).parameters.values():
        field = fields.get(keyword.name)
        if field is None or keyword.name in OPENED or keyword.default is inspect.Parameter.empty:
            continue
        if field.default is None or field.marks.otherwise is not None:  # said in words
            continue
        equal = field.default == keyword.default or (field.default, keyword.default) == ("none", ())
        assert equal, keyword.name
        shared += 1
    assert shared


def commands(group=xlingual, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if name == "help":
            continue
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))
        elif name != "help":  # which has no options
            yield (*path, name), found


@pytest.mark.parametrize(("path", "found"), list(commands()))
def test_every_command_is_made_of_a_request(path, found):
    assert isinstance(found, RequestCommand) and found.kind.command == " ".join(path)
    assert schema(found.kind)["properties"]["command"]["enum"] == [" ".join(path)]
    for field in leaves(found.kind).values():
        sentence = field.sentence
        assert sentence.endswith((".", "…", "]")) and len(sentence.split()) > 2, (field.key, sentence)


def test_requests_load_msgspec_alone():
    code = """
import sys
before = set(sys.modules)
import xlingual.requests, xlingual.requests.evaluating, xlingual.training.requests
loaded = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(sorted(loaded))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout)) - {"typing_extensions"}  # msgspec's own choice
    assert loaded == {"msgspec", "xlingual"}
