"""A JSON array, byte by byte: where one element ends and the next begins, whatever is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import kernel

if TYPE_CHECKING:
    from tinct._kernels.text_splitting import Bytes, Numbers

# places in `state`: how deep in brackets, where in a text, whether the array has begun, whether it has ended, and
# whether something stood outside of it
DEPTH, MODE, BEGUN, ENDED, STRAY, STATE = range(6)
BARE, TEXT, ESCAPED = range(3)


@kernel
def as_lines(data: Bytes, state: Numbers, out: Bytes) -> None:
    """Write a block with a line end between two elements and nowhere else, as many bytes as there were.

    The brackets of the array become blanks, and so do tabs and line ends between values. Inside of a text, where JSON
    allows no line end, it becomes another character that JSON does not allow there.

    Args:
        data: the block.
        state: what is known from the blocks before; zeros in the beginning.
        out: as long as the block.
    """
    depth, mode = state[DEPTH], state[MODE]
    for place in range(len(data)):
        at = np.uint64(place)
        byte = data[at]
        if mode != BARE:
            if mode == ESCAPED:
                mode = TEXT
            elif byte == 92:  # a backslash
                mode = ESCAPED
            elif byte == 34:  # a quote
                mode = BARE
            out[at] = 1 if byte == 10 else byte
            continue
        written = byte
        if byte == 34:
            mode = TEXT
        elif byte == 91 or byte == 123:  # [ {
            if depth == 0:
                if byte == 123 or state[BEGUN]:
                    state[STRAY] = 1
                state[BEGUN] = 1
                written = 32
            depth += 1
        elif byte == 93 or byte == 125:  # ] }
            depth -= 1
            if depth <= 0:
                if byte == 125 or depth < 0:
                    state[STRAY] = 1
                depth = 0
                state[ENDED] = 1
                written = 32
        elif byte == 44 and depth == 1:  # a comma
            written = 10
        elif byte == 9 or byte == 10 or byte == 13:
            written = 32
        if depth == 0 and state[BEGUN] and written != 32:
            state[STRAY] = 1
        out[at] = written
    state[DEPTH], state[MODE] = depth, mode
