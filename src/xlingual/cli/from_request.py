"""Commands of the command line, made from requests: options, help, and the call of a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from msgspec import inspect as types

from xlingual.cli.other_names import option_meant
from xlingual.cli.wording import in_options
from xlingual.errors import InputError, XlingualError
from xlingual.requests import Record, Request, checked, leaves, made, values
from xlingual.requests.reading import read_toml
from xlingual.requests.record import Leaf, refused
from xlingual.requests.values import choices, parts
from xlingual.results.provenance import noting
from xlingual.typed import expected

R = TypeVar("R", bound=Request)

_SINGLE: dict[type[types.Type], Any] = {
    types.StrType: click.STRING,
    types.BoolType: click.BOOL,
    types.CustomType: click.Path(path_type=Path),
}


class RequestCommand(click.Command):
    """A command whose options are the fields of a request; `answer` is the function that runs it.

    Its help shows its own options first, then those of records inside the request under their headings.
    `presets` gives defaults that depend on other values, such as those of a named recipe. `further` are
    commands of their own, by the word behind this one's name; the value is where each is, MODULE:NAME.
    """

    def __init__(
        self,
        kind: type[Request],
        answer: Callable[[Any], Any],
        presets: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda given: {},
        further: Mapping[str, str] | None = None,
        **more: Any,  # noqa: ANN401
    ) -> None:
        self.kind, self.answer, self.presets = kind, answer, presets
        self.further = dict(further or {})
        super().__init__(
            kind.command.split()[-1],
            params=[*_parameters(kind), *_refused(kind)],
            callback=self._called,
            context_settings={"allow_extra_args": _takes_data(kind)},
            **({"help": answer.__doc__} | more),
        )

    def request(self, given: Mapping[str, Any], where: str = "") -> Request:
        """Return the request with some values; those of its file of options, if any, yield to them."""
        found = checked(self.kind, given, where)
        if (config := found.get("config")) is not None:
            found = checked(self.kind, read_toml(config), str(config)) | found
        return made(self.kind, {**self.presets(found), **found}, where)

    def further_command(self, word: str) -> RequestCommand | None:
        """Return the command of a further word, None where there is none."""
        if word not in self.further:
            return None
        module, _, name = self.further[word].partition(":")
        found: RequestCommand = getattr(import_module(module), name)
        return found

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any  # noqa: ANN401
    ) -> click.Context:  # fmt: skip
        """Read the arguments, or give them to the further command that the first of them names."""
        found = self.further_command(args[0]) if args else None
        if found is None:
            return super().make_context(info_name, args, parent, **extra)
        return found.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        """Run the command, and note what it reads; its errors name options."""
        try:
            with noting():
                return super().invoke(ctx)
        except XlingualError as error:
            error.args = (in_options(str(error), self.kind),)
            raise

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; the error for an unknown option names the one that is meant.

        Names of other programs are known (`other_names`).
        """
        try:
            self._refuse_repeated(ctx, args)
            rest = super().parse_args(ctx, args)
            self._refuse_none(ctx)
            return rest
        except click.NoSuchOption as error:
            options = [name for one in self.params if isinstance(one, click.Option) for name in one.opts]
            if meant := option_meant(error.option_name, options):
                said = f"No such option {error.option_name!r}. Did you mean {meant!r}?"
                raise click.UsageError(said, ctx) from None
            raise

    def _refuse_repeated(self, ctx: click.Context, args: Sequence[str]) -> None:
        """Raise an error where an option of one value is given twice: no value is dropped in silence."""
        if ctx.resilient_parsing:
            return
        given = Counter(one for one in self.make_parser(ctx).parse_args(args=[*args])[2])
        for one, times in given.items():
            if times > 1 and isinstance(one, click.Option) and not (one.multiple or one.is_flag):
                said = f"{one.opts[0]} is given {times} times, and takes one value: give it once"
                raise click.UsageError(said, ctx)

    def _refuse_none(self, ctx: click.Context) -> None:
        """Raise an error where one of some options must be given, and none is."""
        names, asked = self.kind.one_of, not ctx.resilient_parsing
        if names and asked and not any(ctx.params.get(name) for name in names):
            hint = " or ".join(f"'{leaves(self.kind)[name].names[0]}'" for name in names)
            raise click.MissingParameter(ctx=ctx, param_hint=hint, param_type="option")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        rows: dict[str, list[tuple[str, str]]] = {"": []}
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)):
                rows.setdefault(getattr(option, "heading", ""), []).append(record)
        for heading, records in rows.items():
            if records:
                with formatter.section(heading or "Options"):
                    formatter.write_dl(records)

    def _called(self, **given: Any) -> Any:  # noqa: ANN401
        context = click.get_current_context()
        _refuse_extra(context, self.kind)
        set_by_user = {
            name: value
            for name, value in given.items()
            if context.get_parameter_source(name) is not ParameterSource.DEFAULT
        }
        return self.answer(self.request(set_by_user))


def command(
    kind: type[R],
    group: click.Group | None = None,
    **more: Any,  # noqa: ANN401
) -> Callable[[Callable[[R], Any]], RequestCommand]:
    """Make a command of a function that answers requests, in a group if any; its docstring is the help."""

    def of(answer: Callable[[R], Any]) -> RequestCommand:
        made = RequestCommand(kind, answer, **more)
        if group is not None:
            group.add_command(made)
        return made

    return of


def keywords(request: Record, function: Callable[..., Any]) -> dict[str, Any]:
    """Return the fields of a request, and of the records in it, that a function has keywords for."""
    wanted = signature(function).parameters
    return {name: value for name, value in values(request).items() if name in wanted}


class _Option(click.Option):
    """An option that stands under a heading of the help."""

    heading = ""


class _Text(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click only
    """A text that is parsed to a value."""

    def __init__(self, leaf: Leaf, reads: Callable[[str], Any]) -> None:
        self.name, self.reads = leaf.marks.metavar or "text", reads

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return the value; the text "none" is kept where it stands for no value."""
        if not isinstance(value, str) or (value == "none" and "none" in self.name):
            return value
        try:
            return self.reads(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class _Limited(click.ParamType):  # type: ignore[type-arg]  # as above
    """A number within limits: an error names what was found, the limits, and what to give."""

    kind: types.Type

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return the number."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"found {value!r}: give {expected(self.kind)}", param, ctx)


class _Whole(_Limited, click.IntRange):
    """A whole number within limits."""


class _Real(_Limited, click.FloatRange):
    """A number within limits."""


def _parameters(kind: type[Request]) -> list[click.Parameter]:
    known = leaves(kind)
    shown = dict.fromkeys([*kind.first, *known])
    return [
        _parameter(known[key]) for key in shown if not (known[key].marks.in_files or key in kind.in_files)
    ]


def _parameter(leaf: Leaf) -> click.Parameter:
    """Return an option or argument."""
    kind, several = _click_type(leaf)
    marks = leaf.marks
    if marks.argument:
        return click.Argument(
            [leaf.key],
            type=kind,
            nargs=-1 if several else 1,
            required=leaf.required,
            metavar=None if marks.metavar == leaf.key.upper() else marks.metavar,
        )
    names = leaf.names
    more: dict[str, Any] = {"required": True}
    if not leaf.required:
        more = {} if leaf.default in (None, ()) else {"default": leaf.default}
    if kind is click.BOOL:
        more["is_flag"] = True
        if leaf.default is True and not marks.names:
            names = (f"{names[0]}/--no-{names[0].removeprefix('--')}",)
    else:
        more |= {"type": kind, "multiple": several, "show_default": marks.otherwise is None}
    if marks.bare is not None:
        more |= {"is_flag": False, "flag_value": marks.bare}
    otherwise = marks.otherwise or (
        "none" if leaf.default is None and "none" in (marks.metavar or "") else ""
    )
    if leaf.key.startswith(("text_encoder", "image_encoder")):
        more["shell_complete"] = _specs
    made = _Option(
        [*names, leaf.key],
        metavar=marks.metavar,
        help=leaf.sentence + (f"  [default: {otherwise}]" if otherwise else ""),
        **more,
    )
    made.heading = leaf.heading
    return made


def _specs(_: click.Context, option: click.Parameter, word: str) -> list[CompletionItem]:
    """Return the schemes that begin with a word, and the word as the beginning of a path."""
    from xlingual.encoders.scheme import IMAGES, TEXTS
    from xlingual.encoders.spec import SCHEMES

    kind = TEXTS if str(option.name).startswith("text") else IMAGES
    rows = [row for row in SCHEMES.values() if kind in row.takes and row.name.startswith(word)]
    found = [CompletionItem(f"{row.name}:" if row.argument else row.name, help=row.summary) for row in rows]
    return found or [CompletionItem(word, type="file")]


def _click_type(leaf: Leaf) -> tuple[Any, bool]:
    """Return what click makes of a field: the type of a value, and whether there may be several."""
    if leaf.marks.reads is not None:
        return _Text(leaf, leaf.marks.reads), False
    if words := choices(leaf.type):
        return click.Choice(words), False
    kinds = [kind for kind in parts(leaf.type) if not isinstance(kind, types.NoneType)]
    kind = next((kind for kind in kinds if isinstance(kind, types.StrType)), kinds[0])
    if isinstance(kind, types.VarTupleType):
        return _single(kind.item_type), True
    return _single(kind), False


def _single(kind: types.Type) -> Any:  # noqa: ANN401
    match kind:
        case types.Metadata(type=inner):
            return _single(inner)
        case types.IntType(ge=low, le=high):
            if low is None and high is None:
                return click.INT
            made: _Limited = _Whole(low, high)
        case types.FloatType(ge=low, gt=above, le=high, lt=below):
            least, most = low if above is None else above, high if below is None else below
            if least is None and most is None:
                return click.FLOAT
            made = _Real(least, most, min_open=above is not None, max_open=below is not None)
        case _:
            return _SINGLE[type(kind)]
    made.kind = kind
    return made


def _refused(kind: type[Request]) -> Iterator[click.Option]:
    """Yield hidden options, which this request refuses: they raise an error with the reason."""
    for name, why in refused(kind).items():

        def refuse(ctx: click.Context, _: click.Parameter, value: str | None, why: str = why) -> None:
            if value is not None:
                raise InputError(f"{ctx.command_path} {why}")

        yield click.Option([name], hidden=True, expose_value=False, is_eager=True, callback=refuse)


def _takes_data(kind: type[Request]) -> bool:
    """Return whether a pattern that the shell expands may give more arguments than expected."""
    known = leaves(kind)
    return "manifest" in known or {"pool", "text_encoders"} <= set(known)


def _refuse_extra(context: click.Context, kind: type[Request]) -> None:
    """Raise InputError for arguments left over, which are mostly a pattern that the shell has expanded."""
    if not context.args:
        return
    first = context.args[0]
    if first.startswith("-"):
        raise click.NoSuchOption(first, ctx=context)
    found = f"unexpected argument {first!r} ({len(context.args)} too many)"
    if "text_encoders" not in leaves(kind):
        raise InputError(f"{found}: give one manifest at a time")
    raise InputError(
        f"{found}: if it comes from a pattern with *, put quotes around the pattern so that the shell passes "
        "it on, for example --text-encoder 'vectors/*.{lang}.npy'; else give one manifest at a time"
    )
