"""Draw icon.png: a tile of lanes, the last ones outside the tensor. Only the standard library is needed."""

import struct
import zlib
from pathlib import Path

SIZE, LANES, GAP = 128, 4, 6
GROUND, INSIDE, OUTSIDE = (30, 34, 42), (86, 182, 194), (224, 108, 117)


def colour(x: int, y: int) -> tuple[int, int, int]:
    """The colour of a pixel: a grid of squares, of which the lower right corner hangs over."""
    margin = 12
    side = (SIZE - 2 * margin + GAP) // LANES
    column, across = divmod(x - margin, side)
    row, down = divmod(y - margin, side)
    on_grid = 0 <= column < LANES and 0 <= row < LANES and across < side - GAP and down < side - GAP
    if not on_grid:
        return GROUND
    return OUTSIDE if row == LANES - 1 and column >= LANES - 2 else INSIDE


def chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


rows = b"".join(b"\0" + bytes(part for x in range(SIZE) for part in colour(x, y)) for y in range(SIZE))
header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
Path(__file__).parent.parent.joinpath("icon.png").write_bytes(
    b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", header)
    + chunk(b"IDAT", zlib.compress(rows, 9))
    + chunk(b"IEND", b"")
)
