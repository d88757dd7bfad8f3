"""A model of a disk: which files may lie there after a crash of the machine, given the calls until then.

Of a file's content, what was there at an fsync of it is promised. Where there was none since it was written, all of it,
half of it, nothing, or zeros may be there. Of a folder's entries, those at an fsync of the folder are promised. Of the
changes since, any may be lost, whatever became of the others; a rename is done as a whole or not at all.
"""

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

from .calls import Call

__all__ = ["Disk", "Tree"]

# The files by their paths; of a folder the content is None.
Tree = dict[str, bytes | None]

_RANDOM_CHOICES = 4


@dataclass(eq=False, slots=True)
class _File:
    content: bytearray = field(default_factory=bytearray)
    synced: bytes = b""


@dataclass(eq=False, slots=True)
class _Folder:
    entries: dict[str, "_Node"] = field(default_factory=dict)
    synced: dict[str, "_Node"] = field(default_factory=dict)


_Node = _File | _Folder


@dataclass(eq=False, slots=True)
class _Change:
    """Entries that are set, or removed where there is no node."""

    kind: str
    edits: list[tuple[_Folder, str, _Node | None]]


class Disk:
    """A folder, empty and on the disk at first."""

    def __init__(self) -> None:
        self._root = _Folder()
        self._pending: list[_Change] = []

    def apply(self, call: Call) -> None:
        """Do what a call did that a program made."""
        act = getattr(self, f"_{call.name}", None)
        if act is not None and call.result >= 0 and not call.path.endswith(" (deleted)"):
            act(call)

    def now(self) -> Tree:
        """What the program sees."""
        return _tree(self._root, lambda folder: folder.entries, lambda file: bytes(file.content))

    def after_a_crash(self, seed: int) -> Iterator[Tree]:
        """What may be there after one, each once.

        Args:
            seed: Of the random choices, made besides the extreme ones.
        """
        chooser = random.Random(seed)
        seen: set[int] = set()
        for kept in self._choices(chooser):
            entries = self._entries(kept)
            for content in (*_CONTENTS, _any_of(chooser)):
                tree = _tree(self._root, partial(_entries_in, entries), content)
                key = hash(frozenset(tree.items()))
                if key not in seen:
                    seen.add(key)
                    yield tree

    def _choices(self, chooser: random.Random) -> Iterator[list[_Change]]:
        """Which of the changes to entries are kept."""
        pending = self._pending
        for length in range(len(pending) + 1):
            yield pending[:length]
            yield pending[length:]
        for kind in ("rename", "add", "remove"):
            yield [change for change in pending if change.kind == kind]
            yield [change for change in pending if change.kind != kind]
        for _ in range(_RANDOM_CHOICES):
            yield [change for change in pending if chooser.random() < 0.5]

    def _entries(self, kept: list[_Change]) -> dict[_Folder, dict[str, _Node]]:
        entries: dict[_Folder, dict[str, _Node]] = {}
        for change in kept:
            for folder, name, node in change.edits:
                changed = entries.setdefault(folder, dict(folder.synced))
                if node is None:
                    changed.pop(name, None)
                else:
                    changed[name] = node
        return entries

    def _find(self, path: str) -> _Node | None:
        node: _Node | None = self._root
        for part in PurePosixPath(path).parts:
            node = node.entries.get(part) if isinstance(node, _Folder) else None
        return node

    def _file(self, path: str) -> _File:
        node = self._find(path)
        assert isinstance(node, _File), f"{path} is no file: the shim missed a call"
        return node

    def _place(self, path: str) -> tuple[_Folder, str]:
        place = PurePosixPath(path)
        folder = self._find(str(place.parent))
        assert isinstance(folder, _Folder), f"{place.parent} is no folder: the shim missed a call"
        return folder, place.name

    def _change(self, kind: str, *edits: tuple[_Folder, str, _Node | None]) -> None:
        for folder, name, node in edits:
            if node is None:
                del folder.entries[name]
            else:
                folder.entries[name] = node
        self._pending.append(_Change(kind, list(edits)))

    def _open(self, call: Call) -> None:
        if call.argument & os.O_CREAT and self._find(call.path) is None:
            self._change("add", (*self._place(call.path), _File()))
        elif call.argument & os.O_TRUNC:
            self._file(call.path).content.clear()

    def _mkdir(self, call: Call) -> None:
        self._change("add", (*self._place(call.path), _Folder()))

    def _write(self, call: Call) -> None:
        content = self._file(call.path).content
        content.extend(bytes(max(0, call.argument - len(content))))
        content[call.argument : call.argument + len(call.data)] = call.data

    def _truncate(self, call: Call) -> None:
        content = self._file(call.path).content
        content.extend(bytes(max(0, call.argument - len(content))))
        del content[call.argument :]

    def _allocate(self, call: Call) -> None:
        content = self._file(call.path).content
        content.extend(bytes(max(0, call.argument - len(content))))

    def _rename(self, call: Call) -> None:
        self._change("rename", (*self._place(call.path), None), (*self._place(call.to), self._find(call.path)))

    def _link(self, call: Call) -> None:
        self._change("add", (*self._place(call.to), self._find(call.path)))

    def _unlink(self, call: Call) -> None:
        self._change("remove", (*self._place(call.path), None))

    def _rmdir(self, call: Call) -> None:
        self._change("remove", (*self._place(call.path), None))

    def _fsync(self, call: Call) -> None:
        node = self._find(call.path)
        if isinstance(node, _File):
            node.synced = bytes(node.content)
        elif isinstance(node, _Folder):
            lasting = [change for change in self._pending if any(folder is node for folder, _, _ in change.edits)]
            for folder, entries in self._entries(lasting).items():
                folder.synced = entries
            self._pending = [change for change in self._pending if change not in lasting]


def _entries_in(changed: dict[_Folder, dict[str, _Node]], folder: _Folder) -> dict[str, _Node]:
    return changed.get(folder, folder.synced)


def _tree(
    root: _Folder, entries_of: Callable[[_Folder], dict[str, _Node]], content_of: Callable[[_File], bytes]
) -> Tree:
    tree: Tree = {}
    waiting: list[tuple[str, _Folder]] = [("", root)]
    while waiting:
        path, folder = waiting.pop()
        for name, node in entries_of(folder).items():
            there = f"{path}/{name}" if path else name
            if isinstance(node, _Folder):
                tree[there] = None
                waiting.append((there, node))
            else:
                tree[there] = content_of(node)
    return tree


def _all(file: _File) -> bytes:
    return bytes(file.content)


def _synced(file: _File) -> bytes:
    return file.synced


def _half(file: _File) -> bytes:
    return file.synced if file.synced == file.content else bytes(file.content[: len(file.content) // 2])


def _zeros(file: _File) -> bytes:
    return file.synced if file.synced == file.content else bytes(len(file.content))


_CONTENTS = (_all, _synced, _half, _zeros)


def _any_of(chooser: random.Random) -> Callable[[_File], bytes]:
    def any_content(file: _File) -> bytes:
        return chooser.choice(_CONTENTS)(file)

    return any_content
