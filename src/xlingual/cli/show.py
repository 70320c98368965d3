"""`xlingual show`: how a file of results was made."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.from_request import RequestCommand, command
from xlingual.errors import InputError
from xlingual.requests import defaults
from xlingual.requests.provenance import request_part
from xlingual.requests.single import ShowRequest


@command(ShowRequest)
def show(request: ShowRequest) -> None:
    """Describe how a file of results was made: command, inputs, encoders, program, date, digest.

    FILE is a file that a command wrote with --out DIR, or the folder DIR. All result files of a folder are
    shown.
    """
    from xlingual.report.pages.made import page
    from xlingual.results.made import made_in

    found = [(made, command_line(made.request, made.run)) for made in made_in(request.file)]
    if screen.as_json(request):
        contents = [{**made.to_dict(), "command_line": line or None} for made, line in found]
        screen.print_json(contents[0] if len(contents) == 1 else {"files": contents})
        return
    for made, line in found:
        screen.print_page(page(made, line), request.form)


def command_line(content: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """Return the command line of a request as results keep it; "" where no command line asks for it.

    Options with their defaults are left out; of what changes no number it has --out alone.
    """
    from xlingual.cli.answering import named_command

    if content.get("command") == "run" and content.keys() == {"command", "file"}:
        return shlex.join(["xlingual", "run", str(content["file"])])
    if run and not {"quiet", "form", "as_json"} & run.keys():  # a call from Python, with objects perhaps
        return ""
    try:
        found = named_command(str(content.get("command", "")), "this result")
    except InputError:  # of another version
        return ""
    usual = request_part(found.kind, defaults(found.kind))
    asked = {name: value for name, value in content.items() if name != "command" and usual.get(name) != value}
    asked |= {"out": run["out"]} if "out" in run else {}
    words = list(_words(found, asked))
    return "" if asked else shlex.join(["xlingual", *found.kind.command.split(), *words])


def _words(found: RequestCommand, asked: dict[str, Any]) -> Iterator[str]:
    """Yield arguments, then options; what is said is taken out of `asked`."""
    params = sorted(found.params, key=lambda one: not isinstance(one, click.Argument))
    for one in params:
        if one.name not in asked:
            continue
        value = asked.pop(one.name)
        texts = [str(part) for part in (value if isinstance(value, list) else [value])]
        if isinstance(one, click.Argument):
            yield from texts
        elif isinstance(one, click.Option) and one.is_flag:
            yield from [one.opts[0]] if value else one.secondary_opts[:1]
        elif one.multiple:
            for text in texts:
                yield from (one.opts[0], text)
        else:
            yield from (one.opts[0], ",".join(texts))
