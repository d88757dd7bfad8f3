"""`tenterhooks lifecycle`: which hooks the sessions of a script call, where and in which order, without training."""

import argparse
import traceback
from typing import TYPE_CHECKING, Any

from tenterhooks.cli.hook_flags import command_line
from tenterhooks.cli.output import FINE, FailureError, guarded, nothing_after, reserved, say, say_json
from tenterhooks.cli.parsing import EXIT_CODES, Parser, add_json
from tenterhooks.cli.run import Ready, add_script, run_with, script_of
from tenterhooks.cli.scripts import Script
from tenterhooks.configuration import CommandLine
from tenterhooks.inspection import NotRun, instead_of_running
from tenterhooks.plugins import caller

if TYPE_CHECKING:
    from tenterhooks.lifecycle import Lifecycle
    from tenterhooks.registry import HookRegistry

__all__ = ["NAME", "add_to"]

NAME = "lifecycle"
_DESCRIPTION = """\
Show which hook is called where, and in which order, in the sessions of a script. The script itself does run, and so do
the constructors of its hooks; but each monitored session that it opens is over at once: no stage of a hook is called,
nothing is restored, saved or trained. The rest of the session's block is left out where it wants something of the
session. A script that fails since nothing was trained is over then, and that is said: what it opens later is not seen.
What it prints goes to the standard error."""


def add_to(subparsers: "argparse._SubParsersAction[Parser]") -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        NAME, help="show the order in which a script's hooks are called", description=_DESCRIPTION, epilog=EXIT_CODES
    )
    add_script(parser)
    add_json(parser)
    parser.set_defaults(carry_out=_carry_out)


def _carry_out(arguments: argparse.Namespace) -> Ready:
    script = script_of(arguments)
    with reserved():
        hooks = command_line(arguments)
    return lambda: _show(script, hooks, as_json=arguments.json)


def _show(script: Script, hooks: CommandLine, *, as_json: bool) -> int:
    sessions: list[dict[str, Any]] = []

    def note(session: "Lifecycle", registry: "HookRegistry") -> None:
        sessions.append({"session": type(session).__name__, "opened_at": caller(), **_calls(session, registry)})

    with instead_of_running(note), reserved():
        ended = _outcome(script, hooks, sessions)
    nothing_after()
    return guarded(lambda: _print(sessions, ended, as_json=as_json))


def _print(sessions: list[dict[str, Any]], ended: str | None, *, as_json: bool) -> int:
    if as_json:
        say_json({"sessions": sessions, "script_ended": ended})
        return FINE
    for number, session in enumerate(sessions, 1):
        _say(number, session)
    if ended is not None:
        say(f"the script was over before its end, as it may be where nothing is trained: {ended}")
        say("sessions that it would have opened later are not seen")
    return FINE


def _outcome(script: Script, hooks: CommandLine, sessions: list[dict[str, Any]]) -> str | None:
    """Run a script, and say why it was over before its end.

    Raises:
        FailureError: It opened no session, or what is said of its hooks outside of it is wrong.
        BaseException: What it raised before it opened one.
    """
    try:
        run_with(script, hooks)
    except NotRun:
        return "a session was used outside of a `with` block"
    except SystemExit as error:
        if not sessions:
            raise FailureError(f"{script.target} opens no monitored session, and ended with {error!r}") from None
        return None if error.code in (None, 0) else repr(error)
    except Exception as error:
        # What is wrong with a configuration is not so since nothing was trained.
        if not sessions or isinstance(error, FailureError):
            raise
        (place,) = traceback.extract_tb(error.__traceback__)[-1:]
        return f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"
    if not sessions:
        raise FailureError(f"{script.target} opens no monitored session")
    return None


def _calls(session: "Lifecycle", registry: "HookRegistry") -> dict[str, Any]:
    """The hooks of a session, and what each stage calls."""
    names = {id(adapter.hook): adapter.name for adapter in registry.adapters}
    classes = {adapter.name: type(adapter.hook) for adapter in registry.adapters}
    hooks = [
        {
            "name": row.name,
            "state": row.state,
            "class": f"{cls.__module__}.{cls.__qualname__}" if (cls := classes.get(row.name)) else None,
            "distribution": row.distribution,
            "version": row.version,
            "origin": row.origin,
            "note": row.note,
        }
        for row in session.hooks_report
        if row.state in ("active", "disabled")
    ]
    stages = {
        stage: [{"hook": names[id(hook)], "wrapper": wrapper} for hook, wrapper in registry.manager.hooks_of(stage)]
        for stage in registry.manager.stages
    }
    return {"hooks": hooks, "stages": stages}


def _say(number: int, session: dict[str, Any]) -> None:
    if number > 1:
        say()
    say(f"session {number}: {session['session']}, opened at {session['opened_at']}")
    if not session["hooks"]:
        say("  no hooks")
    for hook in session["hooks"]:
        of = f"{hook['distribution']} {hook['version']}" if hook["distribution"] else hook["class"]
        what = hook["origin"] if hook["state"] == "active" else f"does not join: {hook['note']}"
        say(f"  {hook['name']}{f' ({of})' if of else ''}, {what}")
    width = max(map(len, session["stages"]))
    for stage, calls in session["stages"].items():
        order = ", ".join(f"{call['hook']}{' (wrapper)' if call['wrapper'] else ''}" for call in calls)
        say(f"  {stage.ljust(width)}  {order or '-'}")
