"""Pages of the commands: usage, what a command does, and all its options, made of the command line itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from website.markdown import block, cell, code, fence, page, table
from xlingual.cli.exit_codes import as_markdown
from xlingual.cli.from_request import RequestCommand
from xlingual.cli.main import xlingual

FOLDER = "reference/commands"
# the verbs in the order of a user's work; a verb that is in no group is an error
GROUPS = {
    "Evaluate": "demo data embed store encoders evaluate inspect nearest report run help",
    "Decide": "compare gate plan history leaderboard study verify",
    "Improve": "repair train papers rerank",
}


def pages() -> dict[str, str]:
    """Return the text of each page by its path below docs/."""
    found = dict(all_commands())
    verbs = {words[0] for words in found}
    grouped = [verb for group in GROUPS.values() for verb in group.split()]
    assert sorted(grouped) == sorted(verbs), f"in no group, or no verb: {verbs.symmetric_difference(grouped)}"
    texts = {f"{FOLDER}/{'-'.join(words)}.md": _page(words, context) for words, context in found.items()}
    return {f"{FOLDER}/index.md": _index(found), **texts}


def all_commands() -> Iterator[tuple[tuple[str, ...], click.Context]]:
    """Yield the words and the context of each command that does something, in the order of the help."""
    yield from _below(
        xlingual, (), click.Context(xlingual, info_name="xlingual", **xlingual.context_settings)
    )


def _below(
    command: click.Command, words: tuple[str, ...], context: click.Context
) -> Iterator[tuple[tuple[str, ...], click.Context]]:
    if not isinstance(command, click.Group):
        yield words, context
        further = command.further if isinstance(command, RequestCommand) else {}
        for word in further:
            found = command.further_command(word)
            assert found is not None
            yield (
                (*words, word),
                click.Context(found, info_name=f"{context.info_name} {word}", parent=context.parent),
            )
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None and not found.hidden:
            yield from _below(found, (*words, name), click.Context(found, info_name=name, parent=context))


def _index(found: dict[tuple[str, ...], click.Context]) -> str:
    parts = ["Every command with every option. The program prints the same with `--help`."]
    for group, words_of_group in GROUPS.items():
        rows = [
            (
                f"[`{' '.join(words)}`]({'-'.join(words)}.md)",
                cell(found[words].command.get_short_help_str(200)),
            )
            for verb in words_of_group.split()
            for words in found
            if words[0] == verb
        ]
        parts += [f"## {group}", table(["Command", "What it does"], rows)]
    parts += ["## Exit codes", as_markdown()]
    return page("Commands", *parts)


def _page(words: tuple[str, ...], context: click.Context) -> str:
    command = context.command
    said = inspect.cleandoc(command.help or "").replace("\b\n", "").replace("<", "&lt;")
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    return page(f"xlingual {' '.join(words)}", fence(usage), said, *_options(context))


def _options(context: click.Context) -> Iterator[str]:
    """Yield a table of options for each heading of the help."""
    rows: dict[str, list[tuple[str, str]]] = {"": []}
    for option in context.command.get_params(context):
        if isinstance(option, click.Option) and (record := option.get_help_record(context)):
            names, said = record
            rows.setdefault(getattr(option, "heading", ""), []).append((code(names), cell(said)))
    for heading, options in rows.items():
        if options:
            yield f"## {heading or 'Options'}"
            yield block("options", table(["Option", "What it is"], options))
