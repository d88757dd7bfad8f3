"""`tenterhooks plugins`: what is installed, from metadata alone."""

import argparse
import difflib
import re
from collections import Counter
from typing import Any

from tenterhooks.cli import plugin_commands
from tenterhooks.cli.output import FINE, columns, say, say_json
from tenterhooks.cli.parsing import EXIT_CODES, Parser, add_json
from tenterhooks.entry_points import groups
from tenterhooks.plugins import HOOKS_GROUP, Plugin, installed

__all__ = ["GROUPS", "NAME", "add_to"]

NAME = "plugins"
GROUPS = {
    HOOKS_GROUP: "hooks",
    "tenterhooks.savers": "savers of checkpoints",
    "tenterhooks.state": "state of frameworks",
    "tenterhooks.summary_writers": "writers of summaries",
    plugin_commands.GROUP: "subcommands",
}
"""The entry-point groups that tenterhooks looks into, and what is in them."""

_DESCRIPTION = """\
List the hooks and other parts that are installed. Nothing of them is imported. What is installed is not active: a hook
joins a session when the program, the configuration, the environment or the command line names it."""

_REFERENCE = re.compile(r"[\w.]+\s*(:\s*[\w.]+\s*)?(\[.*\])?\s*")


def add_to(subparsers: "argparse._SubParsersAction[Parser]") -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        NAME, help="list what is installed, and import none of it", description=_DESCRIPTION, epilog=EXIT_CODES
    )
    add_json(parser)
    parser.set_defaults(carry_out=_carry_out)


def _carry_out(arguments: argparse.Namespace) -> int:
    found = {group: installed(group) for group in [*GROUPS, *(group for group in groups() if group not in GROUPS)]}
    if arguments.json:
        say_json({"plugins": [entry for group, plugins in found.items() for entry in _entries(group, plugins)]})
        return FINE
    blank = False
    for group, plugins in found.items():
        if not plugins:
            continue
        if blank:
            say()
        blank = True
        say(f"{GROUPS.get(group, 'others')} ({group}):")
        rows = [
            (f"  {entry['name']}", f"{entry['distribution']} {entry['version']}", entry["target"], _said(entry))
            for entry in _entries(group, plugins)
        ]
        for line in columns(rows):
            say(line)
    if not blank:
        say("no plugins are installed: pip install tenterhooks-checkpoint, for one")
    return FINE


def _entries(group: str, plugins: tuple[Plugin, ...]) -> list[dict[str, Any]]:
    count = Counter(plugin.name for plugin in plugins)
    return [
        {
            "group": group,
            "name": plugin.name,
            "distribution": plugin.distribution,
            "version": plugin.version,
            "target": plugin.target,
            "problems": _problems(group, plugin, count[plugin.name]),
        }
        for plugin in plugins
    ]


def _problems(group: str, plugin: Plugin, claims: int) -> list[str]:
    """What keeps a plugin from being used, as far as its metadata tells."""
    problems = []
    if group not in GROUPS and (meant := difflib.get_close_matches(group, GROUPS, n=1, cutoff=0.85)):
        problems.append(f"tenterhooks looks into {meant[0]}, and not into this group: tell its author")
    if claims > 1:
        problems.append(f"claimed by {claims} distributions: uninstall all but one")
    if group == plugin_commands.GROUP and plugin.name in plugin_commands.BUILT_IN:
        problems.append("refused: tenterhooks has a subcommand of that name")
    if plugin.is_nameless:
        problems.append("the metadata of its distribution cannot be read: reinstall it")
    if not _REFERENCE.fullmatch(plugin.target):
        problems.append("its target is no module:attribute: tell its author")
    return problems


def _said(entry: dict[str, Any]) -> str:
    return "! " + "; ".join(entry["problems"]) if entry["problems"] else ""
