"""Verbs that are followed by a task, known by its name or a short one."""

from __future__ import annotations

import click

from xlingual.errors import did_you_mean
from xlingual.tasks import full_name, spelled


class Tasks(click.Group):
    """A group that knows the short names of tasks."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a task's name or short name."""
        return super().get_command(ctx, full_name(cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the task; name the nearest one where there is none."""
        known = self.list_commands(ctx)
        if args and full_name(args[0]) not in known and not args[0].startswith("-"):
            said = f"No such task {args[0]!r}.{did_you_mean(args[0], spelled(known))}"
            raise click.UsageError(said, ctx)
        return super().resolve_command(ctx, args)
