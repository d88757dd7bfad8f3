"""What is wrong with a configuration: each message says where it is, what is allowed there, and what is near."""

import re
from dataclasses import dataclass, field

import pytest

import tenterhooks as th
from tenterhooks.configuration import CommandLine, use_command_line

from .configured import Project, training_session

GUARD = "hook 'guard' (tenterhooks-guard 1.5)"


@dataclass
class Wrong:
    """One wrong input, and what the message says, from its beginning, in which `...` stands for anything."""

    says: str
    file: str | None = None
    pyproject: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    flags: CommandLine = field(default_factory=CommandLine)


WRONG = {
    # The file.
    "no TOML": Wrong("tenterhooks.toml:2: this is no TOML: ...", 'hooks = ["guard"]\n[guard'),
    "no TOML in pyproject": Wrong("pyproject.toml:1: this is no TOML: ...", pyproject="tool.tenterhooks hooks"),
    "one key twice": Wrong("tenterhooks.toml:3: this is no TOML: ...", "[guard]\nlimit = 1\nlimit = 2"),
    "no table": Wrong(
        'pyproject.toml:2: [tool.tenterhooks] is a table, not "guard"', pyproject='[tool]\ntenterhooks = "guard"'
    ),
    "unknown setting": Wrong(
        "tenterhooks.toml:1: there is no setting 'hoks'; the nearest: 'hooks'; there are hooks and disable, "
        "which are lists, "
        "and a table of options for each hook",
        'hoks = ["guard"]',
    ),
    "list for a table": Wrong(
        "tenterhooks.toml:1: there is no setting 'guard'; there are hooks and disable, which are lists, and a table of "
        "options for each hook",
        "guard = []",
    ),
    "table of pyproject": Wrong(
        "tenterhooks.toml:1: in tenterhooks.toml everything stands at the top: [nan] in place of "
        "[tool.tenterhooks.nan]",
        "[tool.tenterhooks.guard]\nlimit = 1",
    ),
    "one name for a list": Wrong(
        'tenterhooks.toml:1: hooks is a list of short names, such as hooks = ["guard"], not "guard"', 'hooks = "guard"'
    ),
    "table for a list": Wrong(
        'tenterhooks.toml:2: disable is a list of short names, such as disable = ["nan"], not {"guard": true}',
        "\ndisable.guard = true",
    ),
    "no name in the list": Wrong(
        'tenterhooks.toml:3: hooks is a list of short names, and {"name": "guard"} is none; options stand in '
        "a table [NAME]",
        'hooks = [\n  "guard",\n  { name = "guard" },\n]',
    ),
    "unknown hook": Wrong(
        "pyproject.toml:4: no plugin named 'gard' is installed; the nearest: 'guard'",
        pyproject='[tool.tenterhooks]\nhooks = [\n  "summary",\n  "gard",\n]',
    ),
    "hook that is missing": Wrong(
        "tenterhooks.toml:1: no plugin named 'mailer' is installed; ... pip install tenterhooks-mailer",
        'hooks = ["mailer"]',
    ),
    "unknown hook of a table": Wrong(
        "tenterhooks.toml:3: no plugin named 'gurad' is installed; the nearest: 'guard'...",
        'hooks = ["guard"]\n[gurad]\nlimit = 1',
    ),
    "unknown hook switched off": Wrong(
        "tenterhooks.toml:1: no hook named 'gaurd' is in this session, and none is installed; the nearest: 'guard'",
        'disable = ["gaurd"]',
    ),
    "table twice": Wrong(
        "tenterhooks.toml:1: 'step_counter' and 'step-counter' (line 3) mean the same: keep one of them",
        "[step_counter]\nevery_n_steps = 1\n[step-counter]\nevery_n_secs = 1",
    ),
    "option twice": Wrong(
        "tenterhooks.toml:2: 'every-n-steps' and 'every_n_steps' (line 3) mean the same: keep one of them",
        "[step-counter]\nevery-n-steps = 1\nevery_n_steps = 2",
    ),
    "unknown option": Wrong(
        f"tenterhooks.toml:3: {GUARD} has no option 'limt'; the nearest: 'limit'",
        'hooks = ["guard"]\n[guard]\nlimt = 1',
    ),
    "bool for an int": Wrong(
        f"tenterhooks.toml:2: option 'steps' of {GUARD} is int or none, not true (bool)",
        'hooks = ["guard"]\nguard.steps = true',
    ),
    "float for an int": Wrong(
        f"tenterhooks.toml:2: option 'steps' of {GUARD} is int or none, not 1.0 (float)",
        'hooks = ["guard"]\nguard.steps = 1.0',
    ),
    "text for a float": Wrong(
        f"tenterhooks.toml:1: option 'limit' of {GUARD} is float or none, not \"1\" (str)",
        '"guard"."limit" = "1"\nhooks = ["guard"]',
    ),
    "int for a bool": Wrong(
        f"pyproject.toml:4: option 'strict' of {GUARD} is true or false or none, not 1 (int)",
        pyproject='[tool.tenterhooks]\nhooks = ["guard"]\n[tool.tenterhooks.guard]\nstrict = 1',
    ),
    "wrong word": Wrong(
        f'tenterhooks.toml:2: option \'mode\' of {GUARD} is "min" or "max" or none, not "minn" (str); the '
        f"nearest: 'min'",
        'hooks = ["guard"]\nguard = { mode = "minn" }',
    ),
    "wrong item": Wrong(
        f"tenterhooks.toml:2: option 'names' of {GUARD}, item 2 is str, not 3 (int)",
        'hooks = ["guard"]\nguard.names = [\n  "a", 3]',
    ),
    "wrong value in a table": Wrong(
        f"tenterhooks.toml:2: option 'weights' of {GUARD}, key 'a' is float, not \"b\" (str)",
        'hooks = ["guard"]\nguard.weights.a = "b"',
    ),
    "unknown key of a dataclass": Wrong(
        f"tenterhooks.toml:2: option 'schedule' of {GUARD} has no key 'frist'; the nearest: 'first'",
        'hooks = ["guard"]\n[guard.schedule]\nfrist = 1',
    ),
    "missing key of a dataclass": Wrong(
        f"tenterhooks.toml:2: option 'schedule' of {GUARD} needs the keys first",
        'hooks = ["guard"]\n[guard.schedule]\nfactor = 1',
    ),
    "for code only": Wrong(
        f"tenterhooks.toml:2: option 'clock' of {GUARD} can be given in code only, since its type is "
        f"Callable[[], float]",
        'hooks = ["guard"]\nguard.clock = "time.time"',
    ),
    "missing options": Wrong(
        "tenterhooks.toml:1: hook 'needy' (tenterhooks-needy 1.5) needs the options path, every: give "
        "path=..., every=... "
        "in the table [needy] of the file, as TENTERHOOKS_NEEDY__<OPTION>, or by --set needy.<OPTION>",
        'hooks = ["needy"]',
    ),
    "missing option for code only": Wrong(
        "tenterhooks.toml:1 and tenterhooks.toml:3: hook 'asking' (tenterhooks-asking 1.5) needs the options judge: "
        "judge can be given in code only, so make it there: make_hook('asking', judge=...)",
        'hooks = ["asking"]\n[asking]\nevery = 3',
    ),
    "refused by the constructor": Wrong(
        f"tenterhooks.toml:1 and tenterhooks.toml:3: {GUARD} cannot be made with limit=-1.0: ValueError: limit is 0 or "
        "more, not -1.0",
        'hooks = ["guard"]\n[guard]\nlimit = -1',
    ),
    "constructor that ends the program": Wrong(
        "tenterhooks.toml:1: hook 'ending' (tenterhooks-ending 1.5) cannot be made with no options: SystemExit: 3",
        'hooks = ["ending"]',
    ),
    "stages of no hook": Wrong(
        "tenterhooks.toml:1: hook 'misspelt' (tenterhooks-misspelt 1.5), of type fake_hooks.Misspelt, has stages that "
        "are not as specified: before_run(ctx): rename ctx; it is called with run_context; "
        "end(sess): rename sess; it is called with session",
        'hooks = ["misspelt"]',
    ),
    "what cannot be called": Wrong(
        "tenterhooks.toml:1: hook 'seven' (tenterhooks-seven 1.5) is 7, which cannot be called: an entry point names "
        "a class or a function",
        'hooks = ["seven"]',
    ),
    "broken constructor": Wrong(
        "tenterhooks.toml:1: hook 'broken' (tenterhooks-broken 1.5) cannot be made with no options: ValueError: always "
        "broken",
        'hooks = ["broken"]',
    ),
    # The environment.
    "variable that is not there": Wrong(
        "environment TENTERHOOKS_HOOK: there is no such variable; the nearest: 'TENTERHOOKS_HOOKS'; options "
        "are given as "
        "TENTERHOOKS_<HOOK>__<OPTION>",
        environment={"HOOK": "guard"},
    ),
    "unknown hook in a variable": Wrong(
        "environment TENTERHOOKS_HOOKS: no plugin named 'gurad' is installed; the nearest: 'guard'...",
        environment={"HOOKS": "summary,gurad", "SUMMARY__SAVE_STEPS": "1"},
    ),
    "unknown hook of a variable": Wrong(
        "environment TENTERHOOKS_GURAD__LIMIT: no plugin named 'gurad' is installed; the nearest: 'guard'...",
        environment={"GURAD__LIMIT": "1"},
    ),
    "unknown option of a variable": Wrong(
        f"environment TENTERHOOKS_GUARD__LIMT: {GUARD} has no option 'limt'; the nearest: 'limit'",
        environment={"HOOKS": "guard", "GUARD__LIMT": "1"},
    ),
    "text that is no int": Wrong(
        f"environment TENTERHOOKS_GUARD__STEPS: option 'steps' of {GUARD} is int or none, not \"1e3\" (str)",
        environment={"HOOKS": "guard", "GUARD__STEPS": "1e3"},
    ),
    "text that is no bool": Wrong(
        f"environment TENTERHOOKS_GUARD__STRICT: option 'strict' of {GUARD} is true or false or none, not "
        f'"treu" (str); '
        "the nearest: 'true'",
        environment={"HOOKS": "guard", "GUARD__STRICT": "treu"},
    ),
    "unknown hook switched off by a variable": Wrong(
        "environment TENTERHOOKS_DISABLE: no hook named 'x' is in this session, and none is installed; there are...",
        environment={"DISABLE": "guard,x"},
    ),
    # The command line.
    "unknown hook of a flag": Wrong(
        "command line --hook gurad: no plugin named 'gurad' is installed; the nearest: 'guard'...",
        flags=CommandLine([("gurad", {})]),
    ),
    "unknown option of a flag": Wrong(
        f"command line --hook guard:limt=1: {GUARD} has no option 'limt'; the nearest: 'limit'",
        flags=CommandLine([("guard", {"limt": "1"})]),
    ),
    "wrong value of a flag": Wrong(
        f"command line --hook guard:weights=a: option 'weights' of {GUARD} is a table of float or none, not "
        f'"a" (str)',
        flags=CommandLine([("guard", {"weights": "a"})]),
    ),
    "unknown hook of --set": Wrong(
        "command line --set gurad.limit=1: no plugin named 'gurad' is installed; the nearest: 'guard'...",
        flags=CommandLine(options={"gurad": {"limit": "1"}}),
    ),
    "wrong value of --set": Wrong(
        f'command line --set guard.mode=mid: option \'mode\' of {GUARD} is "min" or "max" or none, not "mid" '
        f"(str); the "
        "nearest: 'min'",
        flags=CommandLine([("guard", {})], {"guard": {"mode": "mid"}}),
    ),
    "unknown hook of --no-hook": Wrong(
        "command line --no-hook gurad: no hook named 'gurad' is in this session, and none is installed; the "
        "nearest: 'guard'",
        flags=CommandLine(disabled=["gurad"]),
    ),
    "refused by the constructor with two flags": Wrong(
        f"command line --hook guard and command line --hook guard:limit=-2: {GUARD} cannot be made with limit=-2.0...",
        flags=CommandLine([("guard", {"limit": "-2"})]),
    ),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_the_message_says_where_it_is_what_is_allowed_and_what_is_near(project: Project, wrong: Wrong) -> None:
    if wrong.file is not None:
        project.file(wrong.file)
    if wrong.pyproject is not None:
        project.file(wrong.pyproject, "pyproject.toml")
    project.environment(wrong.environment)
    with pytest.raises(th.ConfigurationError) as caught, use_command_line(wrong.flags):
        training_session()
    pattern = ".*".join(re.escape(part) for part in wrong.says.split("..."))
    assert re.fullmatch(pattern, str(caught.value)), str(caught.value)
    assert str(caught.value).startswith(f"{caught.value.where}: ")


def test_there_are_enough_of_them() -> None:
    assert len(WRONG) >= 40


def test_a_file_that_is_not_utf8(project: Project) -> None:
    (project.folder / "tenterhooks.toml").write_bytes(b'hooks = ["guard"]\n# \xe4\n')
    with pytest.raises(th.ConfigurationError, match=r"^tenterhooks\.toml:2: a TOML file is UTF-8, and this is not: "):
        training_session()


def test_a_number_or_nesting_that_no_reader_takes(project: Project) -> None:
    project.file(f"[guard]\nlimit = {'9' * 5000}")
    with pytest.raises(th.ConfigurationError, match=r"^tenterhooks\.toml:2: this is no TOML: "):
        training_session()
    project.file(f"[guard]\nlimit = {'[' * 50_000}")
    with pytest.raises(th.ConfigurationError, match=r"^tenterhooks\.toml:2: this is no TOML: "):
        training_session()
