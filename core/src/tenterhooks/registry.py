"""All hooks of one session: their stages called, errors blamed on them, and their state."""

import copy
import dataclasses
import logging
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tenterhooks.adapted import decoded
from tenterhooks.adapters import Adapter
from tenterhooks.errors import HookError, note
from tenterhooks.hooks import RunMetadata, SessionRunArgs, SessionRunValues
from tenterhooks.implementations import implementations
from tenterhooks.merged_run import MergedRun
from tenterhooks.names import titles
from tenterhooks.registration import HookManager
from tenterhooks.state import Stateful, capture
from tenterhooks.stop import StopRequests

if TYPE_CHECKING:
    from tenterhooks.hooks import SessionRunContext
    from tenterhooks.session import Session

__all__ = ["HookRegistry"]

_log = logging.getLogger(__name__)

# What hooks get of a run of which none wants anything.
_NOTHING = SessionRunValues(None, MappingProxyType({}), RunMetadata())


class HookRegistry:
    """The hooks of one monitored session.

    Args:
        hooks: The hooks, in the order in which they are to be called.
        stops: The session's requests to stop.

    Attributes:
        adapters: One for each hook, in that order, but savers last.
        manager: pluggy's manager, in which the adapters are registered. What implements specifications of plugins is
            registered beside them.
        session: The raw session, None before one was made.

    Raises:
        HookError: Something is no hook, or stands in the list twice.
    """

    def __init__(self, hooks: Iterable[object], stops: StopRequests) -> None:
        self.session: Session | None = None
        self._stops = stops
        self._first_states: dict[str, Any] = {}
        self._closing = False
        self._errors_of_closing: list[BaseException] = []
        found = [(hook, implementations(hook)) for hook in hooks]
        for position, (hook, _) in enumerate(found):
            if any(hook is other for other, _ in found[:position]):
                raise HookError(f"hook {hook!r} stands in the list of hooks twice; make two objects", hook)
        found.sort(key=lambda entry: bool(getattr(entry[0], "saves_state", False)))
        named = zip(found, titles([hook for hook, _ in found]), strict=True)
        self.adapters = [Adapter(hook, name, title, stages, stops) for (hook, stages), (name, title) in named]
        self.manager = HookManager(dict(zip(self.adapters, [stages for _, stages in found], strict=True)))
        self._before, self._after = self.manager.calls_of("before_run"), self.manager.calls_of("after_run")
        # Whether runs concern any hook at all.
        self.hears_of_runs = not (self._before and self._after) or bool(self._before.adapters or self._after.adapters)
        # What hooks asked for at last, if it can be asked for again.
        self._last: MergedRun | None = None

    def call(self, stage: str, **arguments: object) -> None:
        """Call a stage for all hooks in order. The first error ends it, with a note that says whose it is."""
        try:
            getattr(self.manager.hook, stage)(**arguments)
        except BaseException as error:
            self.blame(error, stage)
            raise
        finally:
            self._stops.current = None

    def before_run(self, context: "SessionRunContext", run: MergedRun | None) -> MergedRun | None:
        """Ask all hooks what they want of a run.

        Args:
            context: What they get.
            run: What the caller wants of it beside values, if anything.

        Returns:
            What all want of it; None where that is nothing.
        """
        calls = self._before
        if calls is None:
            run = run or MergedRun(context.session)
            for adapter in self.adapters:
                adapter.run = run
            self.call("before_run", run_context=context)
            return run
        self._stops.calls = calls
        calling = calls.left = iter(calls.functions)
        try:
            for call in calling:
                asked = call(context)
                if asked is not None:
                    run = self._collect(context, run, asked)
        except BaseException as error:
            self.blame(error, "before_run")
            raise
        self._stops.calls = None
        return run

    def _collect(self, context: "SessionRunContext", run: MergedRun | None, first: "SessionRunArgs") -> MergedRun:
        """Ask the hooks that are left, after the first one that wants something."""
        calls = self._before
        assert calls is not None
        calling, place = calls.left, calls.place
        last = self._last
        asked: list[SessionRunArgs | None] = [*([None] * place), first]
        if run is None and last is not None and last.session is context.session and place == last.first:
            this: SessionRunArgs | None = first
            for wish in last.wishes:
                if not (wish is None if this is None else _is_just(this, wish)):
                    break
                call = next(calling, None)
                if call is None:
                    return last
                this = call(context)
                asked.append(this)
        # In one that the caller has begun there is more than what hooks ask for.
        of_hooks_alone = run is None
        run = run or MergedRun(context.session)
        for adapter, args in zip(calls.adapters, asked, strict=False):
            if args is not None:
                run.add(adapter, args)
        for call in calling:
            this = call(context)
            asked.append(this)
            if this is not None:
                run.add(calls.adapters[len(asked) - 1], this)
        run.first, run.wishes = place, [None if args is None else args.fetches for args in asked[place:]]
        if of_hooks_alone and run.can_be_made_again:
            self._last = run
        return run

    def after_run(self, context: "SessionRunContext", run: MergedRun | None, results: Any) -> None:
        """Give all hooks what they asked for; wrappers get the caller's results."""
        calls = self._after
        if calls is None:
            run = run or MergedRun(context.session)
            for adapter in self.adapters:
                adapter.run = run
            self.call("after_run", run_context=context, run_values=run.values(results))
            return
        self._stops.calls = calls
        calling = calls.left = iter(calls.functions)
        try:
            if run is None:
                for call in calling:
                    call(context, _NOTHING)
            else:
                for call, values in zip(calling, run.values_for_each(calls), strict=True):
                    call(context, values)
        except BaseException as error:
            self.blame(error, "after_run")
            raise
        self._stops.calls = None

    def close(self, exception: BaseException | None) -> list[BaseException]:
        """Call `end`, or `on_exception`, of every hook that has begun, and give what they raised.

        Where an interrupt came between two of them it may be called again, and calls those that are left.
        """
        stage = "end" if exception is None else "on_exception"
        arguments = {"session": self.session} | ({} if exception is None else {"exception": exception})
        if not self._closing:
            self._closing = True
            try:
                self.call(stage, **arguments)
            except BaseException as error:
                if error is not exception:
                    self._errors_of_closing.append(error)
        for implementation in reversed(getattr(self.manager.hook, stage).get_hookimpls()):
            # A wrapper that failed, or an interrupt, may have kept pluggy from calling some.
            if not (implementation.wrapper or implementation.hookwrapper):
                implementation.function(**arguments)
        return self._errors_of_closing + [error for adapter in self.adapters for error in adapter.errors]

    def blame(self, error: BaseException, stage: str) -> None:
        """Note on an error in which hook, stage and step it happened."""
        title = self._stops.current.title if self._stops.current else None
        step = "" if self.session is None else f", at global step {self.session.global_step}"
        note(error, f"in {stage} of hook {title}{step}" if title else f"in {stage}{step}")
        self._stops.current = None

    def state_dict(self) -> dict[str, Any]:
        """The states of all hooks that have one, by name."""
        states = {}
        for adapter in self.adapters:
            if isinstance(adapter.hook, Stateful):
                try:
                    states[adapter.name] = capture(adapter.hook.state_dict(), f"hooks/{adapter.name}")
                except BaseException as error:
                    note(error, f"in state_dict of hook {adapter.title}")
                    raise
        return states

    def keep_first_states(self) -> None:
        """Remember the hooks' states as they are, for a session that is created anew without a checkpoint."""
        self._first_states = copy.deepcopy(self.state_dict())

    def adopt(self, session: "Session", *, again: bool) -> None:
        """Make a raw session the one of these hooks, give them their state in it, and say what was not restored.

        Args:
            session: The raw session.
            again: Whether it takes the place of another one.
        """
        if again and self.session is not None:
            session.take_place_of(self.session)
        self.session = session
        session.join(self, self._stops)
        restored = session.restored
        missing, unused = self._load_states(session.hook_states, again=again)
        if restored is None:
            return
        restored = session.restored = dataclasses.replace(
            restored,
            not_restored=(*restored.not_restored, *(f"hooks/{name}" for name in missing)),
            not_used=(*restored.not_used, *(f"hooks/{name}" for name in unused)),
        )
        wound = restored.wound_forward
        lost = [
            *(f"{entry} is not in the checkpoint and begins anew" for entry in restored.not_restored),
            *(
                f"{entry}{_meaning(entry, session.hook_states)} is in the checkpoint and nothing here takes it"
                for entry in restored.not_used
            ),
            *(
                f"{entry} may give other items than it would have, since others draw from a random generator that it "
                "draws from too, or it takes a variable that has changed, or it had failed: give it a generator of its "
                "own, or state_dict and load_state_dict"
                for entry in restored.not_exact
            ),
        ]
        told = [f"sources/{name} has no state_dict and was wound forward by {n} items" for name, n in wound.items()]
        _log.log(
            logging.WARNING if lost else logging.INFO,
            "restored from %s, at global step %d%s",
            restored.checkpoint,
            restored.global_step,
            "".join(f"; {note}" for note in (*lost, *told)),
        )

    def _load_states(self, states: Mapping[str, Any], *, again: bool) -> tuple[list[str], list[str]]:
        """Give each hook its state.

        Args:
            states: What was saved, by hook name.
            again: Whether the session is created anew, so that hooks without a saved state get their first one back.

        Returns:
            The names of hooks that have state and for which none was saved, and of states for which there is no hook;
            without those that hold nothing.
        """
        stateful = {a.name: (a.title, a.hook) for a in self.adapters if isinstance(a.hook, Stateful)}
        for name, (title, hook) in stateful.items():
            if name in states or again:
                try:
                    hook.load_state_dict(decoded(copy.deepcopy(states.get(name, self._first_states[name]))))
                except BaseException as error:
                    note(error, f"in load_state_dict of hook {title}")
                    raise
        return [name for name in stateful if name not in states], [
            name for name, state in states.items() if name not in stateful and state != {}
        ]


def _meaning(entry: str, hook_states: Mapping[str, Any]) -> str:
    """What a message adds to the name of a lost state, if it is that of generators of the process."""
    kind, _, name = entry.partition("/")
    state = hook_states.get(name) if kind == "hooks" else None
    if not (isinstance(state, Mapping) and state and all(str(key)[:1] == "<" for key in state)):
        return ""
    return f", the state of the global random numbers {' and '.join(map(str, state))},"


def _is_just(asked: object, wish: Any) -> bool:
    """Whether a result of `before_run` asks for one name or node, this one, and for nothing else."""
    if type(asked) is not SessionRunArgs or asked.feed_dict or asked.options:
        return False
    return asked.fetches is wish or (isinstance(wish, str) and isinstance(asked.fetches, str) and asked.fetches == wish)
