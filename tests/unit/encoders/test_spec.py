import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xlingual.encoders.registry import build
from xlingual.encoders.scheme import IMAGES, LISTS, TEXTS, Context
from xlingual.encoders.spec import SCHEMES, Spec, parse
from xlingual.errors import InputError
from xlingual.hidden import _PLAIN, shown

text = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
tricky = text | st.text("a:?&=%{}*/#.\\ ", max_size=10)
keys = st.from_regex(r"[A-Za-z][\w-]*", fullmatch=True)
names = st.none() | st.from_regex(r"[\w.-]+", fullmatch=True)
specs = st.recursive(
    st.builds(
        Spec, names, st.sampled_from(sorted(SCHEMES)), tricky, st.lists(st.tuples(keys, tricky)).map(tuple)
    ),
    lambda base: st.builds(
        Spec,
        names,
        st.sampled_from(sorted(SCHEMES)),
        tricky,
        st.lists(st.tuples(keys, tricky)).map(tuple),
        base,
    ),
    max_leaves=3,
)


def refused(written, kind=TEXTS, **context):
    with pytest.raises(InputError) as caught:
        build(parse(written), kind, Context(**{"languages": ("en", "de"), **context}))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(specs)
@example(Spec("a", "vectors", "a::b:", (("k", ":"), ("k", "100%&=?:")), Spec("b", "random", ":")))
def test_a_printed_spec_parses_back(spec):
    assert parse(str(spec)) == spec


@pytest.mark.parametrize(
    ("written", "spec"),
    [
        ("random", Spec(None, "random")),
        ("random:", Spec(None, "random")),
        ("random?dim=8", Spec(None, "random", "", (("dim", "8"),))),
        ("ours=random:?dim=8&seed=2", Spec("ours", "random", "", (("dim", "8"), ("seed", "2")))),
        ("a.b-c_1=vectors:x.npy", Spec("a.b-c_1", "vectors", "x.npy")),
        ("x.npy", Spec(None, "vectors", "x.npy")),
        ("ours=../dir/x.{lang}.npy", Spec("ours", "vectors", "../dir/x.{lang}.npy")),
        ("./a=b.npy", Spec(None, "vectors", "./a=b.npy")),
        ("./odd:name.npy", Spec(None, "vectors", "./odd:name.npy")),
        (r"C:\data\x.npy", Spec(None, "vectors", r"C:\data\x.npy")),
        (r"vectors:C:\x.npy", Spec(None, "vectors", r"C:\x.npy")),
        ("lsa:?fit=C:/m.csv#train", Spec(None, "lsa", "", (("fit", "C:/m.csv#train"),))),
        ("vectors:what%3F.npy?id=a%26b", Spec(None, "vectors", "what?.npy", (("id", "a&b"),))),
        ("vectors:100%.npy", Spec(None, "vectors", "100%.npy")),
        ("lsa::random", Spec(None, "lsa", base=Spec(None, "random"))),
        ("a=lsa:?dim=2::b=x.npy", Spec("a", "lsa", "", (("dim", "2"),), Spec("b", "vectors", "x.npy"))),
    ],
)
def test_forms(written, spec):
    assert parse(written) == spec


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("", "no scheme or path"),
        ("ours=", "no scheme or path"),
        ("?dim=3", "no scheme or path"),
        ("randm:?dim=3", "'random'"),
        ("randm", "'randm'"),
        ("http://host/x.npy", "'http'"),
        ("random::", "after '::'"),
        ("random:?dim", "'dim' is not written key=value"),
        ("random:?dim=3&&seed=1", "'' is not written key=value"),
        ("random:?dmi=3", "'dim'"),
        ("random:?dim=3&dim=4", "twice"),
        ("random:?dim=x", "at least 1, found 'x'"),
        ("random:?dim=0", "at least 1"),
        ("random:?seed=-1", "at least 0"),
        ("random:?dim=", "found ''"),
        ("random:?dim=٣", "whole number"),
        ("chargram:?n=5-3", "3-5"),
        ("chargram:?fit=", "fit must be"),
        ("random:words", "no argument"),
        ("vectors:?id=a", "vectors:PATH"),
        ("lsa:?pairs=2", "fit="),
        ("random::chargram", "on top"),
        ("translate:d.tsv", "::SPEC"),
        ("pixels", "not texts"),
    ],
)
def test_errors_say_what_is_wrong(written, says):
    assert says in refused(written)


def test_every_scheme_is_described_and_can_be_imported():
    for name, scheme in SCHEMES.items():
        assert scheme.name == name
        assert scheme.summary
        assert all(option.summary for option in scheme.options)
        assert set(scheme.takes) in ({LISTS}, {TEXTS}, {IMAGES}, {TEXTS, IMAGES})


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("api:m?base_url=https://user:SECRET@host/v1", "api:m?base_url=https://…@host/v1"),
        ("api:m?base_url=https%3A//user%3ASECRET%40host/v1", "api:m?base_url=https://…@host/v1"),
        ("api:m?base_url=https://user:SEC/RET?x@host/v1", "api:m?base_url=https://…@host/v1"),
        ("api:m?base_url=https://user:SECRET&SECRET@host/v1", "api:m?base_url=https://…&…"),
        ("api:m?base_url=https://user:SEC::RET@host/v1", "api:m?base_url=https://…@host/v1"),
        ("api:m?base_url=user:SECRET@host", "api:m?base_url=…@host"),
        ("api:m?base_url=https://host/v1?token=SECRET", "api:m?base_url=https://host/v1?…"),
        ("api:https://user:SECRET@host/v1", "api:https://…@host/v1"),
        ("api:m?key=SECRET&api_key=SECRET&dim=8", "api:m?key=…&api_key=…&dim=8"),
        ("api:m?key_env=SECRET&SECRET", "api:m?key_env=…&…"),
        ("translate:d.tsv?to=de::api:m?token=SECRET", "translate:d.tsv?to=de::api:m?token=…"),
    ],
)
def test_secrets_in_a_spec_are_not_shown(written, printed):
    assert shown(written) == printed


def test_every_option_is_shown_but_those_of_keys():
    assert {option.name for row in SCHEMES.values() for option in row.options} - {"key_env"} == _PLAIN
