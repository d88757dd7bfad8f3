"""What a plugin's options are: the parameters of its constructor, with their types, defaults and help."""

import dataclasses
import enum
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tenterhooks.errors import ConfigurationError, PluginError, nearest
from tenterhooks.names import fold
from tenterhooks.option_types import describe, resolved
from tenterhooks.option_values import RefusedError, converted_value, parsed_text

__all__ = ["REQUIRED", "Option", "check_options", "converted", "option_named", "options_of", "parsed"]


class _Required(enum.Enum):
    REQUIRED = enum.auto()

    def __repr__(self) -> str:
        return "required"


# The default of an option that has none.
REQUIRED = _Required.REQUIRED


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """One option of a plugin.

    Attributes:
        name: Its name.
        annotation: Its type; a string where that cannot be resolved; `inspect.Parameter.empty` where it has none.
        default: Its value where none is given, or `REQUIRED`.
        help: What the constructor's docstring says of it; empty where that says nothing.
    """

    name: str
    annotation: object
    default: object
    help: str

    @property
    def type(self) -> str:
        """Its type as one would write it with all names imported; empty where it has none."""
        if self.annotation is inspect.Parameter.empty:
            return ""
        text = self.annotation if isinstance(self.annotation, str) else inspect.formatannotation(self.annotation)
        return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)

    @property
    def allowed(self) -> str | None:
        """What may be given outside of code, in words; None where it can be given in code only."""
        return describe(self.annotation)


def options_of(factory: Callable[..., object], title: str = "what makes a hook") -> tuple[Option, ...]:
    """The options of a class or factory, in the order of its parameters.

    Args:
        factory: The class or factory.
        title: What they are of, for the message.

    Raises:
        PluginError: It cannot be called.
    """
    helps = _helps(factory)
    return tuple(
        Option(
            parameter.name,
            resolved(parameter.annotation, factory),
            REQUIRED if parameter.default is parameter.empty else parameter.default,
            helps.get(parameter.name, ""),
        )
        for parameter in _parameters(factory, title)
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    )


def check_options(title: str, factory: Callable[..., object], options: Mapping[str, object], *, example: str) -> None:
    """Compare the names of options with those that a factory has.

    Args:
        title: What the options are of, for the message.
        factory: The class or factory.
        options: What is to be given to it.
        example: How the missing ones are given, with {} where they are to stand.

    Raises:
        PluginError: There is an unknown one, or one is missing.
    """
    parameters = _parameters(factory, title)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = {p.name: p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    for name in options:
        if name not in known:
            raise PluginError(f"{title} has no option {name!r}{nearest(name, known)}")
    missing = [name for name, p in known.items() if p.default is p.empty and name not in options]
    if missing:
        call = example.format(", ".join(f"{name}=..." for name in missing))
        raise PluginError(f"{title} needs the options {', '.join(missing)}: {call}")


def option_named(options: Iterable[Option], name: str, where: str, title: str) -> Option:
    """The option of a name that may be written with `-` in place of `_`, and in capitals.

    Args:
        options: All of the plugin.
        name: The name as it was given.
        where: Where it was given, for the message.
        title: Whose options they are.

    Raises:
        ConfigurationError: There is none, or there are several.
    """
    known = {option.name: option for option in options}
    found = [known[name]] if name in known else [o for o in known.values() if fold(o.name) == fold(name)]
    if not found:
        raise ConfigurationError(f"{where}: {title} has no option {name!r}{nearest(name.lower(), known)}", where)
    if len(found) > 1:
        names = " or ".join(repr(option.name) for option in found)
        raise ConfigurationError(f"{where}: by {name!r} {title} may mean {names}: write it as it is", where)
    return found[0]


def converted(option: Option, value: object, where: str, title: str = "the hook") -> Any:
    """Check what a TOML file has for an option, and give it in the option's type.

    Args:
        option: The option.
        value: The value as TOML gives it.
        where: Where it stands, for the message.
        title: Whose option it is.

    Returns:
        The value: an int as a float where the option is one, a string as a `Path`, a table as a dataclass. Where None
        is allowed, "none" means it, since TOML has no other word for that.

    Raises:
        ConfigurationError: It is of a wrong type, or the option can be given in code only.
    """
    return _checked(option, value, where, title, converted_value)


def parsed(option: Option, text: object, where: str, title: str = "the hook") -> Any:
    """Give a text from the environment or the command line in an option's type.

    Args:
        option: The option.
        text: The text: `100`, `0.5`, `true`, `none`, `a,b` or `["a", "b"]` for a list, `{"a": 1}` for a table. Where a
            string is meant it is taken as it is, without quotes.
        where: Where it was given, for the message.
        title: Whose option it is.

    Raises:
        ConfigurationError: It is of a wrong type, or the option can be given in code only.
    """
    return _checked(option, text, where, title, parsed_text)


def _checked(option: Option, value: Any, where: str, title: str, convert: Callable[[object, Any], object]) -> Any:
    beginning = f"{where}: option {option.name!r} of {title}"
    if option.allowed is None:
        what = f"its type is {option.type}" if option.type else "it has no type"
        raise ConfigurationError(f"{beginning} can be given in code only, since {what}", where)
    try:
        return convert(option.annotation, value)
    except RefusedError as refused:
        raise ConfigurationError(f"{beginning}{refused}", where) from None


def _parameters(factory: Callable[..., object], title: str) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(factory).parameters.values())
    except TypeError:
        raise PluginError(
            f"{title} is {factory!r:.60}, which cannot be called: an entry point names a class or a function"
        ) from None
    except ValueError:
        return []  # Something in C that does not tell.


def _helps(factory: Callable[..., object]) -> dict[str, str]:
    """What the section Args of a docstring says of each parameter."""
    found = {}
    for documented in (getattr(factory, "__init__", None), factory):
        section = re.search(r"^Args:\n((?: {4}.*\n?|\n)+)", inspect.getdoc(documented) or "", re.MULTILINE)
        entries = re.findall(r"^ {4}(\w+)[^:\n]*: (.*(?:\n {5,}.*)*)", section[1] if section else "", re.MULTILINE)
        found.update({name: re.sub(r"\s+", " ", text) for name, text in entries})
    return found
