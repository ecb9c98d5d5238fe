"""How a kernel runs: compiled when the work is worth it, as plain Python when it is not.

Importing numba takes longer than any graph of a few thousand edges needs, so small inputs run the very same
function uncompiled. Tests run both ways and compare.
"""

from __future__ import annotations

import sys
from functools import cache, cached_property, update_wrapper
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

SMALL = 20_000  # elements over all array arguments; below this, plain Python beats importing numba
SMALLER = 1_000  # the same once numba is there
_parts: list[Callable[..., Any]] = []


@cache
def _digest() -> str:
    """A fingerprint of all kernel sources."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a small function that kernels call, so that it is compiled along with them."""
    _parts.append(function)
    return function


class kernel(Generic[P, R]):  # noqa: N801 # used as a decorator
    """A function of arrays and scalars that numba compiles on its first large input."""

    nogil = False  # whether other threads run meanwhile

    def __init__(self, function: Callable[P, R]) -> None:
        self.plain = function
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Callable[P, R]:
        """The numba version, cached on disk between runs."""
        from numba import njit
        from numba.extending import register_jitable

        while _parts:
            register_jitable(_parts.pop())
        # numba's disk cache looks at one file only; the digest makes it notice a change in any kernel's parts
        self.plain.__qualname__ = f"{self.plain.__name__}_{_digest()}"
        compiled: Callable[P, R] = njit(cache=True, nogil=self.nogil)(self.plain)
        return compiled

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run compiled if the input is large or the compiled version is at hand, else plain."""
        if "compiled" not in self.__dict__:
            size = sum(argument.size for argument in args if isinstance(argument, np.ndarray))
            if size <= (SMALLER if "numba" in sys.modules else SMALL):
                with np.errstate(all="ignore"):
                    return self.plain(*args, **kwargs)
        return self.compiled(*args, **kwargs)


class unlocked(kernel[P, R]):  # noqa: N801 # as above
    """A kernel that lets other threads run meanwhile: nobody but its caller may hold the arrays it writes to."""

    nogil = True
