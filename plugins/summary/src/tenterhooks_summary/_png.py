"""Images as PNG."""

import struct
import zlib

from numpy import uint8
from numpy.typing import NDArray

__all__ = ["png"]

# Grey, grey and alpha, RGB, RGBA.
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def png(pixels: "NDArray[uint8]") -> bytes:
    """The file of an image.

    Args:
        pixels: Of the shape (height, width, channels), with 1 (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGBA) channels.
    """
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    # Each row begins with a zero: it is not filtered.
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
