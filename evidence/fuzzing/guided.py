"""``python -m evidence.fuzzing.guided TARGET RUNS FOLDER``: the same attack, led by coverage (needs atheris).

Atheris keeps inputs that reach new branches of the library and damages those further. It ends the process itself, with
a code other than 0 if anything but a documented error came out.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from pathlib import Path

_SECONDS = 5.0  # of the processor; following coverage makes the library several times slower


def main() -> None:
    """Instrument the library, then attack one of its parsers."""
    atheris = importlib.import_module("atheris")  # not a dependency: it is built for few platforms

    name, runs, folder = sys.argv[1:4]
    with atheris.instrument_imports(include=["tinct"]):
        from evidence.fuzzing.targets import TARGETS, seeds
    from tinct.errors import TinctError

    (target,) = (target for target in TARGETS if target.name == name)
    corpus, path = Path(folder, "corpus"), Path(folder, f"input{target.suffix}")
    corpus.mkdir()
    for at, data in enumerate(seeds()[name]):
        (corpus / f"seed{at}").write_bytes(data)

    def once(data: bytes) -> None:
        path.write_bytes(data)
        started = time.process_time()
        with contextlib.suppress(TinctError):
            target.read(path)
        if time.process_time() - started > _SECONDS:
            raise TimeoutError("an input took too long")

    os.chdir(folder)
    longest = 2 * max(2048, *map(len, seeds()[name]))
    options = ["-seed=1", f"-runs={runs}", "-timeout=3600", "-rss_limit_mb=2048", f"-max_len={longest}", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", str(corpus)], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
