"""The contract: what every hook keeps, as named rules that can be checked one by one."""

import copy
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from tenterhooks.errors import HookError, PluginError
from tenterhooks.registry import HookRegistry
from tenterhooks.stop import StopRequests
from tenterhooks.testing.closing import closed_once
from tenterhooks.testing.importing import Import, import_in_a_fresh_process
from tenterhooks.testing.independence import share_nothing
from tenterhooks.testing.process import printed
from tenterhooks.testing.resuming import begins_anew, resumes
from tenterhooks.testing.stories import Teller
from tenterhooks.testing.subject import Subject
from tenterhooks.testing.surroundings import ManualClock

__all__ = ["RULES", "Rule"]

Rule = Callable[[Subject, Path], str | None]

_UNKNOWN = "an_option_that_no_hook_has"


def builds(subject: Subject, folder: Path) -> None:
    """It can be made with its options, and is an object.

    Raises:
        AssertionError: It cannot.
    """
    try:
        hook = subject.hook(folder)
    except (Exception, SystemExit) as error:
        raise AssertionError(
            f"{subject.title} cannot be made with the options {dict(subject.options)}; {type(error).__name__}: "
            f"{error}: give options with which it can"
        ) from error
    if hook is None or inspect.isclass(hook):
        raise AssertionError(f"{subject.title} makes {hook!r}, which is no hook: return an object of the hook's class")


def refuses_unknown_options(subject: Subject, folder: Path) -> None:
    """An option that it does not have is an error, so that a misspelt one is not passed over.

    Raises:
        AssertionError: It is not.
    """
    parameters = inspect.signature(subject.factory).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    try:
        subject.factory(**{**copy.deepcopy(dict(subject.options)), _UNKNOWN: None})
    except (TypeError, ValueError, PluginError) as error:
        if _UNKNOWN in str(error):
            return
        raise AssertionError(
            f"{subject.title} refuses the option {_UNKNOWN!r} and does not name it ({error}): name what is wrong, and "
            "what there is; a signature without ** does that by itself"
        ) from error
    raise AssertionError(
        f"{subject.title} takes the option {_UNKNOWN!r} in its ** and says nothing: name the options in the signature"
    )


def has_known_arguments(subject: Subject, folder: Path) -> None:
    """Its stages take what stages are called with, and what it implements is specified.

    Raises:
        AssertionError: They do not.
    """
    hook = subject.hook(folder)
    try:
        HookRegistry([hook], StopRequests())
    except HookError as error:
        raise AssertionError(str(error)) from error


def prints_nothing(subject: Subject, folder: Path) -> None:
    """It writes nothing to the standard output, which is the program's: it logs.

    Raises:
        AssertionError: It writes there.
    """
    for loop, where in subject.places():
        for until in (None, 1):
            place, clock = folder / f"{loop}-{until}", ManualClock()
            with printed() as texts:
                Teller(subject, subject.hook(place, clock), loop, place, clock).tell(until)
            if texts:
                raise AssertionError(
                    f"in {where} it writes to the standard output: {''.join(texts)[:200]!r}; log it, with "
                    "logging.getLogger(__name__), so that the program decides"
                )


def imports_nothing_heavy(subject: Subject, folder: Path) -> None:
    """Its module imports nothing that takes long: what is needed late is imported late.

    Raises:
        AssertionError: It imports such a thing.
        NotCheckedError: The module is found in no other process.
    """
    module, found = _import(subject)
    heavy = sorted(found.packages & subject.heavy)
    if heavy:
        raise AssertionError(
            f"the import of {module} imports {', '.join(heavy)}: import it in the function that needs it, so that a "
            "program that names the hook does not wait for it"
        )


def imports_without_effects(subject: Subject, folder: Path) -> None:
    """The import of its module defines things and does nothing else.

    Raises:
        AssertionError: It does something.
        NotCheckedError: The module is found in no other process.
    """
    module, found = _import(subject)
    effects = list(found.changes)
    effects += [f"it writes {output[:200]!r}" for output in (found.output, found.errors) if output]
    effects += [f"it makes the file {name}" for name in found.files]
    if effects:
        raise AssertionError(
            f"the import of {module} has effects: {'; '.join(effects)}. Do it in a stage of the hook, and undo it in "
            "end and in on_exception"
        )


def _import(subject: Subject) -> tuple[str, Import]:
    module = subject.module or subject.factory.__module__
    return module, import_in_a_fresh_process(module)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "builds": builds,
        "refuses unknown options": refuses_unknown_options,
        "stages have known arguments": has_known_arguments,
        "two sessions share nothing": share_nothing,
        "resumes where it was": resumes,
        "begins anew in a second session": begins_anew,
        "is closed once whatever fails": closed_once,
        "prints nothing": prints_nothing,
        "imports nothing heavy": imports_nothing_heavy,
        "imports without side effects": imports_without_effects,
    }
)
