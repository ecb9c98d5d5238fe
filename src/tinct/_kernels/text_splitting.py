"""Text files split into rows and cells, byte by byte, with nothing but a few numbers kept between two blocks.

Quotes are those of RFC 4180. A cell that begins with a quote is quoted if its closing quote stands before a delimiter,
a line end or the end of the file; a doubled quote inside is one quote. If there is no such closing quote, the first one
is an ordinary character, and reading goes on behind it: a stray quote spoils its own row, and seldom another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinct._kernels.compiling import part, unlocked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Numbers = NDArray[np.int64]
    Offsets = NDArray[np.int32]
    Flags = NDArray[np.bool_]

# places in `rules`: bytes or −1 for none; one of the endings below; whether a blank line is a row; limits of output
DELIMITER, QUOTE, ENDING, BLANKS, CELL_LIMIT, ROW_LIMIT, BYTE_LIMIT, RULES = range(8)
LF, CRLF = range(2)
# places in `state`; USED is where the cell at hand ends so far, −1 if it is too long to be read
MODE, COLUMN, ROW, OPENED, SIGNAL, USED, STATE = range(7)
START, PLAIN, QUOTED, CLOSING = range(4)
MAX_DIGITS = 400  # characters of a number; with more it is missing
DIGIT, OTHER, HIGH, STOP, ANY = 0, 1, 2, 4, 3  # kinds of bytes; above 127 they are HIGH
MORE, FULL, AGAIN = range(3)  # signals: give me the next block; take these rows; go back to OPENED


@part
def is_utf8(values: Bytes, begin: int, end: int) -> bool:
    """Whether bytes are UTF-8: no byte out of place, nothing longer than needed, no surrogates."""
    at = begin
    while at < end:
        first = int(values[at])
        at += 1
        if first < 0x80:
            continue
        if first < 0xC2 or first > 0xF4:
            return False
        more = 1 if first < 0xE0 else 2 if first < 0xF0 else 3
        if at + more > end:
            return False
        second = int(values[at])
        low = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
        high = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
        if second < low or second > high:
            return False
        for step in range(1, more):
            if int(values[at + step]) & 0xC0 != 0x80:
                return False
        at += more
    return True


@part
def line_end(data: Bytes, at: int, end: int, ending: int) -> int:
    """How many bytes the line end at this place has; 0 if there is none."""
    byte = int(data[at])
    if byte == 13:
        return 2 if at + 1 < end and int(data[at + 1]) == 10 else 0
    return 1 if byte == 10 and ending == LF else 0


@part
def keep(data: Bytes, begin: int, end: int, out: Bytes, used: int, limit: int) -> int:
    """Add bytes to the cell at hand; returns where it ends now, or −1 if it gets too long to be read."""
    if used < 0 or used + (end - begin) > limit:
        return -1
    for at in range(np.uint64(begin), np.uint64(end)):
        out[np.uint64(used)] = data[at]
        used += 1
    return used


@part
def blank(values: Bytes, at: int, end: int) -> int:
    """How many bytes the blank at this place has, one of those that Unicode calls space separators; 0 if none."""
    first = int(values[at])
    if first == 0x20:
        return 1
    if first < 0xC2 or at + 1 >= end:
        return 0
    second = int(values[at + 1])
    if first == 0xC2:
        return 2 if second == 0xA0 else 0
    if first < 0xE1 or first > 0xE3 or at + 2 >= end:
        return 0
    third = int(values[at + 2])
    if first == 0xE2:
        found = (second == 0x80 and (third <= 0x8A or third == 0xAF)) or (second == 0x81 and third == 0x9F)
    else:
        found = third == 0x80 and second == (0x9A if first == 0xE1 else 0x80)
    return 3 if found else 0


@part
def trim(values: Bytes, begin: int, end: int) -> int:
    """Take the blanks off both ends of a text; returns where it ends then."""
    while end > begin:
        size = 1
        while size < 4 and end - size > begin and int(values[end - size]) & 0xC0 == 0x80:
            size += 1
        if blank(values, end - size, end) != size:
            break
        end -= size
    at = begin
    while at < end:
        size = blank(values, at, end)
        if size == 0:
            break
        at += size
    if at == begin:
        return end
    for to in range(begin, begin + end - at):
        values[to] = values[to + at - begin]
    return begin + end - at


@part
def digits(values: Bytes, at: int, end: int) -> int:
    """Where the digits that begin here end."""
    while at < end and 48 <= int(values[at]) <= 57:
        at += 1
    return at


@part
def is_number(values: Bytes, at: int, end: int) -> bool:
    """Whether a text is a number as ``cell_rules.number_pattern`` says, with a decimal point and nothing else in it."""
    if end - at > MAX_DIGITS:
        return False
    if at < end and (values[at] == 43 or values[at] == 45):
        at += 1
    begin, at = at, digits(values, at, end)
    whole = at - begin
    if at < end and values[at] == 46:
        begin, at = at + 1, digits(values, at + 1, end)
        whole += at - begin
    if whole == 0:
        return False
    if at < end and (values[at] == 69 or values[at] == 101):
        at += 1
        if at < end and (values[at] == 43 or values[at] == 45):
            at += 1
        begin, at = at, digits(values, at, end)
        if not 1 <= at - begin <= 3:
            return False
    return at == end


@unlocked
def split(
    data: Bytes,
    begin: int,
    end: int,
    base: int,
    last: bool,
    rules: Numbers,
    kinds: Bytes,
    places: Numbers,
    columns: Numbers,
    trims: bool,
    numbers: Flags,
    state: Numbers,
    values: Bytes,
    starts: Offsets,
    valid: Flags,
) -> int:
    """Split a block; returns how far it came, and says in ``state[SIGNAL]`` why it stopped.

    Args:
        data: the block. It ends with a carriage return only if it is the last one.
        begin: where to go on in it.
        end: where it ends.
        base: the place of the block in the file.
        last: whether the file ends with it.
        rules: see the names above.
        kinds: for each byte, what it is; at a STOP something may end outside of quotes.
        places: for each column, which of the columns that are read it is, or −1; one more entry, −1, for all others.
        columns: for each column that is read, which column it is.
        trims: whether cells lose the blanks around them.
        numbers: for each column that is read, whether only numbers are there.
        state: what is known of the row at hand; zeros in the beginning.
        values: the bytes of the cells, one row of this array for each column that is read.
        starts: where each cell begins and the last one ends.
        valid: whether the cell is there.
    """
    delimiter, quote, ending, blanks = rules[DELIMITER], rules[QUOTE], rules[ENDING], rules[BLANKS]
    longest, most_rows, most_bytes = rules[CELL_LIMIT], rules[ROW_LIMIT], rules[BYTE_LIMIT] - rules[CELL_LIMIT]
    mode, column, row, opened, used = state[MODE], state[COLUMN], state[ROW], state[OPENED], state[USED]
    others = len(places) - 1
    to = places[min(column, others)]
    out = values[max(to, 0)]
    limit = starts[max(to, 0), row] + longest
    at, signal, full = begin, MORE, False
    seen = DIGIT if mode == START else ANY  # what is in the cell at hand, at most
    while True:
        if at >= end:
            if not last or (mode == START and column == 0):
                break
            closed = 1 if mode != QUOTED else -1
        elif mode == QUOTED:
            stop = at
            while stop < end and data[np.uint64(stop)] != quote:
                stop += 1
            if to >= 0:
                used = keep(data, at, stop, out, used, limit)
            at = stop
            if at < end:
                mode = CLOSING
                at += 1
            continue
        elif mode == CLOSING and data[at] == quote:  # a doubled one
            if to >= 0:
                used = keep(data, at, at + 1, out, used, limit)
            mode = QUOTED
            at += 1
            continue
        else:
            if mode == START:
                if data[at] == quote:
                    opened = base + at
                    mode = QUOTED
                    seen = ANY
                    at += 1
                    continue
                if column == 0 and not blanks:
                    ended = line_end(data, at, end, ending)
                    if ended:
                        at += ended
                        continue
                mode = PLAIN
            if mode == PLAIN:
                stop = at
                if to >= 0 and used >= 0:  # most cells: copied while they are looked at, byte by byte
                    top, shift = min(end, at + limit - used), used - at
                    while stop < top:
                        byte = data[np.uint64(stop)]
                        kind = kinds[byte]
                        if kind == STOP:
                            break
                        out[np.uint64(stop + shift)] = byte
                        seen |= kind
                        stop += 1
                    used = stop + shift
                    if stop == top and top < end and kinds[data[stop]] != STOP:
                        used = -1
                while stop < end and kinds[data[np.uint64(stop)]] != STOP:
                    stop += 1
                at = stop
                if at == end:
                    continue
            ended = 1
            closed = 0
            if data[at] != delimiter:
                ended = line_end(data, at, end, ending)
                closed = 1
            if ended:
                at += ended
            elif mode == PLAIN:  # a carriage return that ends nothing
                if to >= 0:
                    used = keep(data, at, at + 1, out, used, limit)
                    seen |= OTHER
                at += 1
                continue
            else:  # text behind the closing quote
                closed = -1
        if closed < 0:  # there was no quoted cell: the quote that began it is an ordinary character
            used = starts[max(to, 0), row]
            mode = PLAIN
            at = opened - base
            if at < 0:
                signal = AGAIN
                break
            continue
        if to >= 0:
            first = starts[to, row]
            good = used >= 0 and (seen < HIGH or is_utf8(out, first, used))
            used = used if good else first
            if trims and used > first and seen != DIGIT:
                used = trim(out, first, used)
            if numbers[to] and good and (seen != DIGIT or used == first or used - first > MAX_DIGITS):
                good = is_number(out, first, used)
                used = used if good else first
            valid[to, row] = good
            starts[to, row + 1] = used
            full = full or used > most_bytes
        mode = START
        seen = DIGIT
        if closed == 0:
            column += 1
        else:
            for place in range(len(columns)):
                if columns[place] > column:  # the row has no such cell
                    valid[place, row] = False
                    starts[place, row + 1] = starts[place, row]
            row += 1
            column = 0
            full = full or row >= most_rows
        to = places[min(column, others)]
        if to >= 0:
            out = values[to]
            used = starts[to, row]
            limit = used + longest
        if closed == 1 and full:
            signal = FULL
            break
    state[MODE], state[COLUMN], state[ROW], state[OPENED], state[USED] = mode, column, row, opened, used
    state[SIGNAL] = signal
    return at
