"""The subcommands that plugins add, through the entry-point group `tenterhooks.commands`.

The name of an entry point is that of the subcommand. It points to a function that takes the list of the arguments
behind that name, and gives the exit code. It is imported when it is used.
"""

from tenterhooks.cli.output import FINE, UsageError, columns
from tenterhooks.errors import PluginError, nearest
from tenterhooks.plugins import Plugin, find, installed

__all__ = ["BUILT_IN", "GROUP", "listing", "run", "usable"]

GROUP = "tenterhooks.commands"
BUILT_IN = ("run", "plugins", "show", "lifecycle", "new", "check", "completion")
"""The subcommands that tenterhooks has itself, in the order in which a reader needs them."""


def run(name: str, arguments: list[str]) -> int:
    """Run a subcommand of a plugin.

    Args:
        name: What it is called.
        arguments: What stands behind that.

    Returns:
        Its exit code.

    Raises:
        UsageError: No plugin has one of this name.
        PluginError: Several plugins have, or the one that has it cannot be imported or gives no exit code.
    """
    plugins = installed(GROUP)
    if not any(plugin.name == name for plugin in plugins):
        known = {*BUILT_IN, *(plugin.name for plugin in plugins)}
        raise UsageError(f"there is no subcommand {name!r}{nearest(name, known)}; see tenterhooks --help")
    plugin = find(name, GROUP)
    command = plugin.load()
    if not callable(command):
        raise PluginError(f"the subcommand {plugin} is no function but {command!r:.60}: tell its author")
    code: object = command(arguments)
    if code is None:
        return FINE
    if not isinstance(code, int):
        raise PluginError(f"the subcommand {plugin} gave {code!r:.60}, which is no exit code: tell its author")
    return code


def usable() -> list[Plugin]:
    """The subcommands that can be used, each name once."""
    plugins = installed(GROUP)
    names = [plugin.name for plugin in plugins]
    return [plugin for plugin in plugins if plugin.name not in BUILT_IN and names.count(plugin.name) == 1]


def listing() -> str:
    """What the help says of the subcommands of plugins, from their metadata alone."""
    plugins = installed(GROUP)
    if not plugins:
        return ""
    rows = []
    can_be_used = usable()
    for plugin in plugins:
        note = ""
        if plugin.name in BUILT_IN:
            note = "cannot be used: tenterhooks has a subcommand of that name"
        elif plugin not in can_be_used:
            note = "cannot be used: another distribution has one of that name"
        rows.append((f"  {plugin.name}", f"from {plugin.distribution} {plugin.version}", note))
    return "\n".join(["subcommands of plugins:", *columns(rows), "", ""])
