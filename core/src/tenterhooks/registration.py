"""How the hooks of a session are registered with pluggy, so that it calls them in the order of their list."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pluggy

from tenterhooks import hookspecs
from tenterhooks.adapters import Adapter
from tenterhooks.errors import HookError, nearest
from tenterhooks.hookspecs import PROJECT, STAGES
from tenterhooks.implementations import Implementation

__all__ = ["HookManager"]


class _Part:
    """Some stages of an adapter: what is registered with pluggy, where place and order differ between them."""

    def __init__(self, adapter: Adapter, functions: Mapping[str, Any], marks: Mapping[str, Any]) -> None:
        self.adapter = adapter
        self.marks = marks
        vars(self).update(functions)


class HookManager(pluggy.PluginManager):
    """Finds the stages of adapters, and of the hooks themselves just what adapters do not stand before.

    Args:
        stages: What each adapter's hook implements, in the order in which they are to be called, savers last.

    Raises:
        HookError: A hook implements what none of them specifies.
    """

    def __init__(self, stages: Mapping[Adapter, Mapping[str, Implementation]]) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(hookspecs)
        self._add_specifications_of([adapter.hook for adapter in stages])
        # pluggy calls what was registered last first, but what is marked `trylast` in the order of registration.
        savers = [adapter for adapter in stages if getattr(adapter.hook, "saves_state", False)]
        others = [adapter for adapter in stages if adapter not in savers]
        for adapter in [*reversed(others), *savers]:
            early = {stage: marks for stage, marks in adapter.marks.items() if not marks["trylast"]}
            self._register_part(adapter, "", {stage: getattr(adapter, stage) for stage in early}, early)
            self._register_part(adapter, " (wrappers)", adapter.wrappers, adapter.wrapper_marks)
            if stages[adapter].keys() - set(STAGES):
                self.register(adapter.hook, f"{adapter.name} itself")
        for adapter in stages:
            late = {stage: marks for stage, marks in adapter.marks.items() if marks["trylast"]}
            self._register_part(adapter, " (trylast)", {stage: getattr(adapter, stage) for stage in late}, late)
        self._check_specified({id(adapter.hook): adapter.title for adapter in stages})

    def parse_hookimpl_opts(self, plugin: object, name: str) -> Any:
        """The options of one method for pluggy; None if it is no implementation that pluggy is to call."""
        if isinstance(plugin, _Part):
            return plugin.marks.get(name)
        marks = super().parse_hookimpl_opts(plugin, name)
        return marks if isinstance(marks, dict) and (marks.get("specname") or name) not in STAGES else None

    def order_of(self, stage: str) -> list[tuple[Adapter, Callable[..., Any]]] | None:
        """The calls of a stage in the order in which pluggy would make them, None where a wrapper is among them."""
        order = []
        for implementation in reversed(getattr(self.hook, stage).get_hookimpls()):
            assert isinstance(implementation.plugin, _Part)
            if implementation.wrapper or implementation.hookwrapper:
                return None
            adapter = implementation.plugin.adapter
            order.append((adapter, adapter.calls[stage]))
        return order

    def hooks_of(self, stage: str) -> list[tuple[object, bool]]:
        """The hooks that a stage calls, in that order, wrappers first; each with whether it is a wrapper."""
        order = []
        for implementation in reversed(getattr(self.hook, stage).get_hookimpls()):
            part = implementation.plugin
            hook = part.adapter.hook if isinstance(part, _Part) else part
            # Every adapter takes part in `begin`, whether its hook does or not.
            if not isinstance(part, _Part) or stage in {**part.adapter.calls, **part.adapter.wrappers}:
                order.append((hook, bool(implementation.wrapper or implementation.hookwrapper)))
        return order

    @property
    def stages(self) -> list[str]:
        """All that is specified in this session: the lifecycle's stages, and then those that hooks bring."""
        brought = {name for name, caller in vars(self.hook).items() if caller.has_spec()} - set(STAGES)
        return [*STAGES, *sorted(brought)]

    def _add_specifications_of(self, hooks: Sequence[object]) -> None:
        added: list[object] = []
        for hook in hooks:
            specifications = getattr(hook, "hookspecs", None)
            if specifications is not None and not any(specifications is other for other in added):
                self.add_hookspecs(specifications)
                added.append(specifications)

    def _register_part(
        self, adapter: Adapter, what: str, functions: Mapping[str, Any], marks: Mapping[str, Any]
    ) -> None:
        if functions:
            self.register(_Part(adapter, functions, marks), adapter.name + what)

    def _check_specified(self, titles: Mapping[int, str]) -> None:
        for name, caller in ((name, getattr(self.hook, name)) for name in vars(self.hook)):
            for implementation in () if caller.has_spec() else caller.get_hookimpls():
                if not implementation.optionalhook:
                    known = [n for n in vars(self.hook) if getattr(self.hook, n).has_spec()]
                    title = titles[id(implementation.plugin)]
                    raise HookError(
                        f"hook {title} implements {name!r}, which no hook of this session specifies"
                        f"{nearest(name, known)}; mark it @hookimpl(optionalhook=True) if that is fine",
                        implementation.plugin,
                    )
