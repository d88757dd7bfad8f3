"""The checksums are those of their names, of files as of bytes."""

import zlib
from pathlib import Path

import pytest
import xxhash

from tenterhooks_checkpoint import _checksums

CONTENTS = [b"", b"a", bytes(range(256)) * 5000]


@pytest.mark.parametrize("content", CONTENTS, ids=len)
def test_a_file_has_the_checksum_of_its_content(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    for name in _checksums.KNOWN:
        assert _checksums.of_file(path, name) == _checksums.of_bytes(content, name)


@pytest.mark.parametrize("content", CONTENTS, ids=len)
def test_the_checksums_are_what_their_names_say(content: bytes) -> None:
    assert _checksums.of_bytes(content) == xxhash.xxh3_128(content).hexdigest()
    assert _checksums.of_bytes(content, "xxh3_128") == xxhash.xxh3_128(content).hexdigest()
    assert _checksums.of_bytes(content, "crc32") == f"{zlib.crc32(content):08x}"


def test_the_checksum_of_new_checkpoints_stays_what_it_is() -> None:
    # From the library's own reference values, so that a checkpoint can be read with another version of it.
    assert _checksums.CHECKSUM == "xxh3_128"
    assert _checksums.of_bytes(b"") == "99aa06d3014798d86001c324468d497f"


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        _checksums.of_file(tmp_path / "file")
