"""The pages on the papers and their recipes: every command line is accepted, every link leads somewhere."""

import re
import shlex
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import click
import pytest
from markdown_it import MarkdownIt

from xlingual.cli import from_request
from xlingual.cli.answering import named_command
from xlingual.cli.from_request import RequestCommand
from xlingual.cli.main import xlingual
from xlingual.cli.run import _parts
from xlingual.encoders.scheme import IMAGES, TEXTS
from xlingual.encoders.spec import parse, read_options, scheme_for
from xlingual.errors import InputError
from xlingual.requests import values

FOLDER = Path(__file__).parents[2] / "docs" / "papers"
OF_PAPERS = sorted(FOLDER.glob("*.md"))
EACH_PAGE = pytest.mark.parametrize("page", OF_PAPERS, ids=lambda page: page.name)
PROMPT = re.compile(r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?=xlingual )")  # and variables of the environment
MADE = re.compile(r"/docs/reference/(commands/|api/|schemas|encoder-options)")  # `make docs` checks
PLACEHOLDER = re.compile(r"(^|=|::)[A-Z][A-Z_\d-]*$")  # of a spec, or of what is below ::
LEFT_OUT = {"…", "..."}
SPECS = {"text_encoders": TEXTS, "text_encoder": TEXTS, "systems": TEXTS, "image_encoder": IMAGES}


@cache
def tokens(path):
    """Return the parts of a page, those within a line after the line."""
    known = MarkdownIt().enable("table").parse(path.read_text(encoding="utf-8"))
    return [part for block in known for part in (block, *(block.children or ()))]


def fences(page, *kinds):
    return [part.content for part in tokens(page) if part.type == "fence" and part.info in kinds]


def command_lines(block):
    """Return the words of each `xlingual …` of a block of shell commands, to a pipe or redirection."""
    lines = re.sub(r"\\\n\s*", " ", block).splitlines()
    for line in lines:
        if start := PROMPT.match(line):
            lexer = shlex.shlex(line[start.end() :], posix=True, punctuation_chars="|&;<>")
            lexer.whitespace_split = True
            words = list(lexer)
            ends = (i for i, word in enumerate(words) if word and set(word) <= set("|&;<>"))
            yield words[1 : next(ends, None)]


def parsed(words):
    """Return the context of a command line's command, with its options; None where one is left out."""
    command, words = xlingual, list(words)
    # with its settings, since click keeps the help option of the first context
    context = click.Context(xlingual, info_name="xlingual", **xlingual.context_settings)
    while isinstance(command, click.Group) and words and words[0] not in {"--help", *LEFT_OUT}:
        name, command, words = command.resolve_command(context, words)
        context = click.Context(command, info_name=name, parent=context)
    given = [word for word in words if word not in LEFT_OUT]
    incomplete = given != words
    if incomplete and isinstance(command, click.Group):
        return None
    try:
        return command.make_context(context.info_name, given, parent=context.parent)
    except click.MissingParameter:
        if not incomplete:
            raise
    except click.exceptions.Exit:  # --help
        pass
    return None


def check_command_line(words, monkeypatch):
    """Raise an error where a command line is not accepted; nothing is run and no file is read."""
    context = parsed(words)
    if context is not None:
        assert isinstance(context.command, RequestCommand), f"{words} names no command in full"
        monkeypatch.setattr(from_request, "read_toml", lambda path: {})
        monkeypatch.setattr(context.command, "answer", check_specs)
        with context:
            context.command.invoke(context)


def said(error):
    return error.format_message() if isinstance(error, click.ClickException) else str(error)


def check_specs(request):
    """Raise InputError for a spec of an encoder that is malformed, or unknown."""
    for name, given in values(request).items():
        texts = () if name not in SPECS or given is None else (given,) if isinstance(given, str) else given
        for text in texts:
            spec = parse(PLACEHOLDER.sub(r"\1vectors:FILE", text))
            while spec is not None:
                read_options(spec, scheme_for(spec, SPECS[name]))
                spec = spec.base


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def anchors(path):
    """Return the anchors of the headings of a page, as GitHub makes them."""
    parts = tokens(path)
    headings = [parts[i + 1] for i, part in enumerate(parts) if part.type == "heading_open"]
    seen, found = Counter(), set()
    for heading in headings:
        anchor = slug("".join(part.content for part in heading.children))
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def dead_links(page):
    found = []
    for part in tokens(page):
        link = part.attrs.get("href") or part.attrs.get("src") or ""
        if link and not re.match(r"\w+:", link):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if MADE.search(str(target)):
                continue
            if not target.exists() or (anchor and anchor not in anchors(target)):
                found.append(link)
    return found


@EACH_PAGE
def test_every_command_line_is_accepted(page, monkeypatch):
    for block in fences(page, "", "bash", "sh", "shell", "console"):
        for words in command_lines(block):
            try:
                check_command_line(words, monkeypatch)
            except (click.ClickException, InputError) as error:
                pytest.fail(f"{shlex.join(['xlingual', *words])}: {said(error)}")


@EACH_PAGE
def test_every_file_of_commands_is_accepted(page):
    for block in fences(page, "toml"):
        content = tomllib.loads(block)
        parts = [part for part in content.values() if isinstance(part, dict)]
        if "command" in content or any("command" in part for part in parts):
            for where, part in _parts(content, page.name):
                options = {key: value for key, value in part.items() if key != "command"}
                check_specs(named_command(part["command"], where).request(options, where))


@EACH_PAGE
def test_every_command_within_a_line_names_what_is_there(page):
    for part in tokens(page):
        if part.type == "code_inline" and part.content.startswith("xlingual "):
            parsed([*shlex.split(part.content)[1:], "…"])


@EACH_PAGE
def test_every_link_leads_somewhere(page):
    assert dead_links(page) == []


def test_the_index_names_every_page():
    index = {part.attrs.get("href") for part in tokens(FOLDER / "README.md")}
    assert {page.name for page in OF_PAPERS} - {"README.md"} <= index


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("xlingual evalute bkr m.csv", "No such command"),
        ("xlingual evaluate bkr m.csv --text-encodr lsa --image-encoder pixels", "No such option"),
        ("xlingual evaluate bkr m.csv --image-encoder pixels", "--text-encoder"),
        ("xlingual evaluate bkr m.csv --text-encoder random --image-encoder pixels --sample 0", "'0'"),
        ("$ xlingual evaluate bkr m.csv --text-encoder random --image-encoder pixels --threads 0", "'0'"),
        ("xlingual evaluate bkr m.csv --text-encoder random:?dimm=3 --image-encoder pixels", "dimm"),
        ("xlingual papers mlmme m.csv --seedz 2", "seedz"),
        ("A=b xlingual evaluate bkr … --seedz 2 > out.txt", "seedz"),
        ("xlingual train triplet m.csv --text-encoder SPEC --out M \\\n    --rate fast", "fast"),
    ],
)
def test_what_is_not_accepted_is_found(line, message, monkeypatch):
    (words,) = command_lines(f"# a remark\n{line}\nls xlingual\n")
    with pytest.raises((click.ClickException, InputError)) as error:
        check_command_line(words, monkeypatch)
    assert message in said(error.value)


@pytest.mark.parametrize(
    "line",
    [
        "xlingual evaluate bkr DATA --text-encoder NAME=SPEC --text-encoder SPEC --image-encoder SPEC  # a",
        "xlingual study new DATA --source en --target ru --system a=SPEC --system b=model:M::SPEC --out S",
        "xlingual evaluate bkr DATA --image-encoder pixels … | head",
        "$ XLINGUAL_STORE=none xlingual evaluate bkr …",
        "xlingual train triplet m.csv --config FILE.toml --text-encoder lsa --out M",
        "xlingual papers mlmme --out STUDY",
        "xlingual study …",
        "xlingual papers backretrieval --help",
    ],
)
def test_what_is_accepted_needs_no_files(line, monkeypatch):
    (words,) = command_lines(line)
    check_command_line(words, monkeypatch)


def test_dead_links_are_found(tmp_path):
    page, other = tmp_path / "a.md", tmp_path / "b.md"
    other.write_text("# One `two:` — three\n\n## Again\n\n## Again\n")
    live = ["b.md", "b.md#one-two--three", "b.md#again-1", "#here", "https://example.org/x#y"]
    dead = ["c.md", "b.md#again-2", "#there", "../nowhere/"]
    page.write_text("# Here\n\n" + " ".join(f"[{i}]({link})" for i, link in enumerate([*live, *dead])))
    assert dead_links(page) == dead
