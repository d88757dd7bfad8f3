"""What the start of a program costs: the import, the first session, and finding two plugins where many are installed.

    python tests/benchmarks/bench_startup.py [--repeats 11] [--plugins 200] [--steps 20000]

Prints tables of milliseconds of the main thread's time on a processor, which other programs change little: the median
over the repeats. Each figure is taken in a process of its own, without the start of the interpreter; the cases take
turns. The plugins lie in one folder on the path, each with its metadata, an entry point and a module. They are found
beside all that is installed where this runs, whose number is said, and as if nothing else were.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import importlib_metadata

# What a plugin's module holds.
HOOK = "import tenterhooks as th\n\n\nclass Hook(th.SessionRunHook):\n    def end(self, session): ...\n"
# What a program prints: a figure, and how many of the plugins' modules it has imported. The figure is of the main
# thread alone, since others, which NumPy's import starts, wait busily for a while.
FRAME = """
import sys, time
{before}
start = time.thread_time()
{timed}
print((time.thread_time() - start) * {factor})
print(sum(name.startswith("third_") for name in sys.modules))
"""
IMPORTS = "import importlib_metadata, tenterhooks as th; from tenterhooks import *; from tenterhooks import plugins\n"
ALONE = """from pathlib import Path
sys.path[:] = [place for place in sys.path if Path(place).name == "third" or not list(Path(place).glob("*.*-info"))]
"""
FIND = "plugins.find('third-0'), plugins.find('third-1')"
OPEN = "session = th.MonitoredSession(graph=graph, hooks=[{}])"
NAMED = OPEN.format("'third-0', 'third-1'")
GRAPH = IMPORTS + "graph = th.Graph(); graph.train_op(lambda: None, name='train')\n"
STEP = "for _ in range({steps}): session.run('train')"


@dataclass(frozen=True)
class Case:
    """Something that is timed.

    Attributes:
        title: What stands in the table.
        timed: The statements.
        before: What runs before them.
        plugins: Whether the plugins are installed.
        imported: How many of them are imported by it.
    """

    title: str
    timed: str
    before: str = ""
    plugins: bool = False
    imported: int = 0


IMPORT = (
    Case("`import numpy, pluggy`", "import numpy, pluggy"),
    Case("`import tenterhooks`", "import tenterhooks"),
    Case("`from tenterhooks import *`, which is all of it", "from tenterhooks import *"),
    Case("`import importlib_metadata`, which the first look-up does", "import importlib_metadata"),
)
SESSION = (
    Case("open a session without hooks, the first one", OPEN.format(""), GRAPH),
    Case("open a session without hooks, any other", OPEN.format(""), GRAPH + OPEN.format("") + "; session.close()"),
    Case("find two plugins", FIND, IMPORTS + ALONE, True),
    Case("find two plugins, beside all else", FIND, IMPORTS, True),
    Case("find what is installed where none of them is", "plugins.installed()", IMPORTS),
    Case("find two plugins again", FIND, IMPORTS + FIND, True),
    Case("open a session with two plugins by name, beside all else", NAMED, GRAPH, True, 2),
)
STEPS = (
    Case("none of them installed", STEP, GRAPH + OPEN.format("") + "\nsession.run('train')"),
    Case("all of them installed", STEP, GRAPH + OPEN.format("") + "\nsession.run('train')", True),
    Case("all of them installed, two of them used", STEP, GRAPH + NAMED + "\nsession.run('train')", True, 2),
)


def install(folder: Path, count: int) -> None:
    """Put distributions with a plugin each into a folder."""
    folder.mkdir()
    for number in range(count):
        metadata = folder / f"third_{number}-1.0.dist-info"
        metadata.mkdir()
        said = f"Metadata-Version: 2.1\nName: third-{number}\nVersion: 1.0\n\n" + "What a readme says.\n" * 100
        (metadata / "METADATA").write_text(said, "utf-8")
        entry_point = f"[tenterhooks.hooks]\nthird-{number} = third_{number}:Hook\n"
        (metadata / "entry_points.txt").write_text(entry_point, "utf-8")
        (folder / f"third_{number}.py").write_text(HOOK, "utf-8")


def measured(case: Case, folder: Path, steps: int) -> float:
    """Run a case in a process of its own: milliseconds, or microseconds of one step."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TENTERHOOKS_")}
    if case.plugins:
        environment["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, [environment.get("PYTHONPATH")])])
    factor = 1e6 / steps if case in STEPS else 1e3
    program = FRAME.format(before=case.before, timed=case.timed.format(steps=steps), factor=factor)
    # Where no file that names hooks lies.
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, cwd=folder.parent, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{case.title}:\n{done.stderr}")
    figure, imported = done.stdout.split()
    if int(imported) != case.imported:
        raise RuntimeError(f"{case.title}: {imported} of the plugins were imported, not {case.imported}")
    return float(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--plugins", type=int, default=200)
    parser.add_argument("--steps", type=int, default=20_000)
    arguments = parser.parse_args()
    found: dict[Case, list[float]] = {case: [] for case in (*IMPORT, *SESSION, *STEPS)}
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory, "third")
        install(folder, arguments.plugins)
        for _ in range(arguments.repeats):
            for case, figures in found.items():
                figures.append(measured(case, folder, arguments.steps))
    medians = {case: statistics.median(figures) for case, figures in found.items()}
    limit = medians[IMPORT[0]]
    print(f"Milliseconds of an import\n\n| | ms | ratio to {IMPORT[0].title} |\n|---|---|---|")
    for case in IMPORT:
        print(f"| {case.title} | {medians[case]:.1f} | {medians[case] / limit:.2f} |")
    others = len(list(importlib_metadata.distributions()))
    print(f"\nMilliseconds after the imports; {arguments.plugins} plugins, all else: {others} distributions\n")
    print("| | ms |\n|---|---|")
    for case in SESSION:
        print(f"| {case.title} | {medians[case]:.2f} |")
    print(f"\nMicroseconds per step; {arguments.plugins} plugins\n\n| | us |\n|---|---|")
    for case in STEPS:
        print(f"| {case.title} | {medians[case]:.2f} |")


if __name__ == "__main__":
    main()
