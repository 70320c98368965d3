"""`xlingual data`: check a manifest, describe and make pools, make built-in data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlingual.cli import pools, screen
from xlingual.cli.from_request import command
from xlingual.cli.mixing import mix_pool
from xlingual.cli.opening import columns
from xlingual.cli.scenes import scenes
from xlingual.report.terminal import fitting, plain_table
from xlingual.requests.making import CheckRequest

if TYPE_CHECKING:
    from rich.table import Table

    from xlingual.data.checks.findings import Finding
    from xlingual.data.checks.records import Check
    from xlingual.evaluation.near_duplicates import NearDuplicates

_MOST_PAIRS = 6  # shown of the language pairs


@click.group()
def data() -> None:
    """Check a manifest, describe or make a multilingual pool, make built-in data."""


@command(CheckRequest, short_help="List what is wrong with a manifest.")
def check(asked: CheckRequest) -> int:
    """Count what a manifest holds, and list all that is wrong with it or deserves a look.

    Errors stop every command that reads the manifest; rows that have one are not counted. Warnings and notes
    stop none. The exit code is 2 where there are errors.
    """
    from xlingual.data.checks.check import check
    from xlingual.data.checks.findings import findings_of, ordered
    from xlingual.data.manifest import Manifest
    from xlingual.workflows.near_duplicates import manifest_near_duplicates, near_duplicates_finding

    data, quiet, as_json = asked.data, asked.quiet, asked.as_json
    read, problems = Manifest.read_gathering(data.manifest, **columns(data), split=data.split, rows=data.rows)
    found, near, findings = None, None, findings_of(problems)
    if read is not None:
        with screen.progress(quiet or as_json) as progress:
            tell = None if progress is None else lambda done, total: progress("opening pictures", done, total)
            found = check(read, tell, problems=problems)
            near = manifest_near_duplicates(read, found.pictures, progress)
        findings = [*found.findings, *near_duplicates_finding(near, read)]
    findings = ordered(findings)
    if as_json:
        _print_json(data.manifest, found, near, findings)
    else:
        if not quiet and found is not None and near is not None:
            _print_tables(found, near)
        _print_findings(findings, quiet)
    return 2 if any(finding.severity == "error" for finding in findings) else 0


for one in (pools.describe, pools.squad_to_pool, mix_pool, scenes, check):
    data.add_command(one)


def _print_json(
    manifest: Path, found: Check | None, near: NearDuplicates | None, findings: Sequence[Finding]
) -> None:
    from dataclasses import asdict

    if found is None or near is None:  # no row could be read
        screen.print_json({"source": str(manifest), "findings": [asdict(finding) for finding in findings]})
        return
    content = asdict(found)
    for name in ("pairs", "shared_texts"):
        content[name] = {f"{a}-{b}": count for (a, b), count in content[name].items()}
    content["findings"] = [asdict(finding) for finding in findings]
    content["near_duplicates"] = near.about()
    screen.print_json(content)


def _print_findings(findings: Sequence[Finding], quiet: bool) -> None:
    """Print one line for each finding on standard error; notes only where not all is to be quiet."""
    for finding in findings:
        if finding.severity == "note" and quiet:
            continue
        counted = finding.sentence.startswith(f"{finding.count:,} ")  # the sentence says how many
        times = (
            f" ({finding.count:,} times)" if finding.examples and finding.count > 1 and not counted else ""
        )
        examples = f"; such as: {'; '.join(finding.examples)}" if finding.examples else ""
        line = f"{finding.severity}{times}: {' '.join(finding.sentence.split())}{examples}"
        screen.say(line, err=True)


def _print_tables(found: Check, near: NearDuplicates) -> None:
    output = screen.console()
    output.print()
    output.print(_overview(found, near))
    output.print(fitting(output, (_languages(found, most) for most in (9, 8, 5))))
    if found.directions:
        output.print(_directions(found))


def _overview(found: Check, near: NearDuplicates) -> Table:
    table = plain_table(found.source, header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    n = len(found.languages)
    rows = [
        ("rows", found.n_table_rows, ""),
        ("items", found.n_items, f"{found.n_items_multilingual:,} with texts in several languages"),
        ("texts", found.n_texts, f"in {n} {'language' if n == 1 else 'languages'}"),
    ]
    if found.pictures is None:
        rows.append(("pictures", 0, "none named: bkr and corr need vectors of them (vectors:PATH)"))
    else:
        pictures = found.pictures
        rows.append(
            (
                "pictures",
                pictures.n_distinct + len(pictures.same_bytes),
                f"{pictures.n_distinct:,} distinct, {len(pictures.missing):,} missing, "
                f"{len(pictures.unreadable):,} unreadable",
            )
        )
    joined = "" if near.clusters is None else f", {near.clusters.n_joined:,} clusters"
    rows.append(("near-duplicates", near.n_near, f"of {near.n_looked:,} items looked at{joined}"))
    for name, count, remark in rows:
        table.add_row(name, f"{count:,}", remark)
    return table


def _languages(found: Check, most: int) -> Table:
    """Return the table of languages with so many of its columns; a narrow screen has room for few."""
    from rich.text import Text

    columns = ("texts", "items", "empty", "repeated", "other script", "median length", "longest")
    table = plain_table()
    for column in ("language", *columns, "longest text")[:most]:
        table.add_column(column, justify="right" if column in columns else "left", no_wrap=True)
    for language in found.languages:
        longest_id, longest = language.longest[0] if language.longest else ("", 0)
        lists = (language.empty, language.repeated, language.other_script)
        counts = (language.n_texts, language.n_items, *map(len, lists), language.median_length, longest)
        cells = (language.language, *(f"{count:,.0f}" for count in counts), longest_id)
        table.add_row(*map(Text, cells[:most]))
    return table


def _directions(found: Check) -> Table:
    """Return the table of the language pairs with the fewest sources."""
    from rich.text import Text

    shown = found.directions[:_MOST_PAIRS]
    fewest = (
        f", the smallest {len(shown)} of {len(found.directions)}"
        if len(found.directions) > len(shown)
        else ""
    )
    table = plain_table(f"items per language pair{fewest}")
    table.add_column("source-target", no_wrap=True)
    columns = ["with both", "bkr sources", "bkr targets", "source pictures"]
    for column in columns if found.pictures is not None else columns[:3]:
        table.add_column(column, justify="right")
    for pair in shown:
        counts = [pair.n_both, pair.n_sources, pair.n_targets]
        counts += [pair.n_pictures] if found.pictures is not None else []
        table.add_row(*map(Text, (f"{pair.source}-{pair.target}", *(f"{count:,}" for count in counts))))
    return table
