"""`tenterhooks run`: a script whose sessions have the hooks that the command line names."""

import argparse
from collections.abc import Callable

from tenterhooks.cli.hook_flags import add_hook_flags, command_line
from tenterhooks.cli.output import FINE, FailureError, UsageError
from tenterhooks.cli.parsing import Parser
from tenterhooks.cli.scripts import Script
from tenterhooks.configuration import CommandLine, use_command_line
from tenterhooks.errors import ConfigurationError

__all__ = ["NAME", "Ready", "add_script", "add_to", "run_with", "script_of"]

NAME = "run"
Ready = Callable[[], int]
"""What is left to do when the arguments are right: it gives the exit code, and raises what a script raises."""

_DESCRIPTION = """\
Run a script as `python SCRIPT` does. Each MonitoredTrainingSession that it opens in this process has the hooks that are
named here, after its own and before its savers. The script need not be changed, and does not see these flags.

  tenterhooks run train.py --hook nan:fail_on_nan_loss=false --hook stop-at-step:last_step=100 -- --batch 64"""
_SCRIPTS_OWN = "exit codes: that of the script; 2 wrong usage, 1 a hook that is named here cannot be had"


def add_to(subparsers: "argparse._SubParsersAction[Parser]") -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        NAME, help="run a script with hooks that are named here", description=_DESCRIPTION, epilog=_SCRIPTS_OWN
    )
    add_script(parser)
    parser.set_defaults(carry_out=_carry_out)


def add_script(parser: Parser) -> None:
    """Add what names a script, its arguments, and the hooks of its sessions."""
    parser.advice = "; what is for the script itself stands behind --, as in SCRIPT -- ARGS"
    parser.usage = f"{parser.prog} [OPTION]... (SCRIPT | -m MODULE) [OPTION]... [-- ARGS]"
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help="the file; or a folder with a `__main__.py`")
    parser.add_argument("-m", metavar="MODULE", dest="module", help="a module in place of a file, as `python -m` does")
    add_hook_flags(parser)


def script_of(arguments: argparse.Namespace) -> Script:
    """The script that the arguments name.

    Raises:
        UsageError: They name none, or two, or one that does not exist.
    """
    if (arguments.script is None) == (arguments.module is None):
        what = "a script is missing" if arguments.script is None else f"{arguments.script!r} and -m {arguments.module}"
        raise UsageError(f"{arguments.subcommand}: {what}: give either SCRIPT or -m MODULE")
    is_module = arguments.script is None
    return Script(arguments.module if is_module else arguments.script, arguments.behind, is_module=is_module)


def run_with(script: Script, hooks: CommandLine) -> None:
    """Run a script whose sessions have these hooks.

    Raises:
        FailureError: What the command line, the environment or the file says of hooks is wrong, as a session of the
            script found out.
        BaseException: What the script raises.
    """
    with use_command_line(hooks):
        try:
            script.run()
        except ConfigurationError as error:
            # Of what is wrong outside of the script a traceback through it says nothing.
            raise FailureError(str(error)) from None


def _carry_out(arguments: argparse.Namespace) -> Ready:
    script = script_of(arguments)
    hooks = command_line(arguments)

    def run_script() -> int:
        run_with(script, hooks)
        return FINE

    return run_script
