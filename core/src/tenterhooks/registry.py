"""All hooks of one session: their stages called, and errors blamed on them."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tenterhooks.adapters import Adapter
from tenterhooks.calls import Calls, place_of
from tenterhooks.errors import HookError, note
from tenterhooks.hook_states import HookStates
from tenterhooks.hooks import RunMetadata, SessionRunArgs, SessionRunValues
from tenterhooks.implementations import implementations
from tenterhooks.instruments import instrument
from tenterhooks.merged_run import MergedRun
from tenterhooks.names import titles
from tenterhooks.registration import HookManager
from tenterhooks.stop import StopRequests
from tenterhooks.turns import Turn, Turns

if TYPE_CHECKING:
    from tenterhooks.hooks import SessionRunContext
    from tenterhooks.session import Session

__all__ = ["HookRegistry"]

_NO_VALUES: Mapping[str, Any] = {}
# Makes what hooks get without a call in Python.
_make = tuple.__new__
# What they get of a run of which none wants anything.
_NOTHING = SessionRunValues(None, MappingProxyType({}), RunMetadata())


class HookRegistry:
    """The hooks of one monitored session.

    Args:
        hooks: The hooks, in the order in which they are to be called.
        stops: The session's requests to stop.
        named: The names and titles of the hooks, savers last; by default they are worked out.

    Attributes:
        adapters: One for each hook, in that order, but savers last.
        manager: pluggy's manager, in which the adapters are registered. What implements specifications of plugins is
            registered beside them.
        session: The raw session, None before one was made.
        states: Their states.
        turns: Which of them are called in which run.

    Raises:
        HookError: Something is no hook, or stands in the list twice.
    """

    def __init__(
        self, hooks: Iterable[object], stops: StopRequests, named: Sequence[tuple[str, str]] | None = None
    ) -> None:
        self.session: Session | None = None
        self._stops = stops
        self._closing = False
        self._errors_of_closing: list[BaseException] = []
        found = [(hook, implementations(hook)) for hook in hooks]
        for position, (hook, _) in enumerate(found):
            if any(hook is other for other, _ in found[:position]):
                raise HookError(f"hook {hook!r} stands in the list of hooks twice; make two objects", hook)
        found.sort(key=lambda entry: bool(getattr(entry[0], "saves_state", False)))
        named = titles([hook for hook, _ in found]) if named is None else named
        self.adapters = [
            Adapter(hook, name, title, stages, stops)
            for (hook, stages), (name, title) in zip(found, named, strict=True)
        ]
        instrument(self.adapters)
        self.manager = HookManager(dict(zip(self.adapters, [stages for _, stages in found], strict=True)))
        self.states = HookStates(self.adapters)
        self.turns = Turns(self.adapters, self.manager.order_of("before_run"), self.manager.order_of("after_run"))

    def call(self, stage: str, **arguments: object) -> None:
        """Call a stage for all hooks in order. The first error ends it, with a note that says whose it is."""
        try:
            getattr(self.manager.hook, stage)(**arguments)
        except BaseException as error:
            self.blame(error, stage)
            raise
        finally:
            self._stops.current = None

    def before_run(self, turn: Turn, context: "SessionRunContext", run: MergedRun | None) -> MergedRun | None:
        """Ask hooks what they want of a run.

        Args:
            turn: Which hooks.
            context: What they get.
            run: What the caller wants of it beside values, if anything.

        Returns:
            What all want of it; None where that is nothing.
        """
        calls = turn.before
        if calls is None:
            return self._before_run_by_pluggy(context, run)
        try:
            if run is None and turn.last is not None:
                return self._ask_again(turn, calls, context, turn.last)
            self._stops.calling = calling = iter(calls)
            for call in calling:
                asked = call(context)
                if asked is not None:
                    return self._merge(turn, calls, context, run, [*([None] * place_of(calling)), asked])
        except BaseException as error:
            self.blame(error, "before_run")
            raise
        return run

    def _before_run_by_pluggy(self, context: "SessionRunContext", run: MergedRun | None) -> MergedRun:
        run = run or MergedRun(context.session)
        for adapter in self.adapters:
            adapter.run = run
        self.call("before_run", run_context=context)
        return run

    def _ask_again(
        self, turn: Turn, calls: Calls[Any], context: "SessionRunContext", last: MergedRun
    ) -> MergedRun | None:
        """Ask hooks that may want the same as in the last run: most want the same in every run."""
        self._stops.calling = calling = iter(last.repeating)
        for call, args, wish in calling:
            asked = call(context)
            if asked is args:
                # What one object says may have been changed all the same.
                if asked is None or (asked.fetches is wish and not asked.feed_dict and not asked.options):
                    continue
            elif type(asked) is SessionRunArgs and args is not None and not (asked.feed_dict or asked.options):
                fetches = asked.fetches
                if fetches is wish or (isinstance(wish, str) and isinstance(fetches, str) and fetches == wish):
                    continue
            place = place_of(calling)
            as_last = [None if wish is None else SessionRunArgs(wish) for wish in last.wishes[:place]]
            return self._merge(turn, calls, context, None, [*as_last, asked])
        return last

    def _merge(
        self,
        turn: Turn,
        calls: Calls[Any],
        context: "SessionRunContext",
        begun: MergedRun | None,
        asked: "list[SessionRunArgs | None]",
    ) -> MergedRun | None:
        """Ask the hooks that are left, and merge what all want, the first of whom have been asked."""
        run = begun or MergedRun(context.session)
        for adapter, args in zip(calls.adapters, asked, strict=False):
            if args is not None:
                run.add(adapter, args)
        self._stops.calling = calling = iter(calls)
        calling.__setstate__(len(asked))  # type: ignore[attr-defined]
        for call in calling:
            args = call(context)
            asked.append(args)
            if args is not None:
                run.add(calls.adapters[len(asked) - 1], args)
        run.wishes = [None if args is None else args.fetches for args in asked]
        if begun is None:
            if not any(asked):
                return None
            if run.can_be_made_again:
                run.repeating = Calls(calls.adapters, zip(calls, asked, run.wishes, strict=True))
                turn.last = run
        return run

    def after_run(self, turn: Turn, context: "SessionRunContext", run: MergedRun | None, results: Any) -> None:
        """Give the hooks what they asked for; wrappers get the caller's results."""
        calls = turn.after
        if calls is None:
            self._after_run_by_pluggy(context, run, results)
            return
        try:
            if run is None:
                self._stops.calling = calling = iter(calls)
                for call in calling:
                    call(context, _NOTHING)
            else:
                values, options, metadata = run.results, run.options, run.metadata
                self._stops.calling = giving = iter(run.giving(calls))
                for call, name, pick in giving:
                    result = pick and pick(values) if name is None else values[name]
                    call(context, _make(SessionRunValues, (result, options, metadata)))
                # It may be long until it is made again.
                run.results = _NO_VALUES
        except BaseException as error:
            self.blame(error, "after_run")
            raise

    def _after_run_by_pluggy(self, context: "SessionRunContext", run: MergedRun | None, results: Any) -> None:
        run = run or MergedRun(context.session)
        for adapter in self.adapters:
            adapter.run = run
        self.call("after_run", run_context=context, run_values=run.values(results))

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

    def blamed_in(self, error: BaseException) -> Adapter | None:
        """The hook that an error was blamed on, if on any."""
        notes = getattr(error, "__notes__", None) or ()
        blamed = (adapter for adapter in self.adapters for text in notes if f" of hook {adapter.title}" in str(text))
        return next(blamed, None)

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
        self.states.restore(session, again=again)
        self.turns.begin_anew()
