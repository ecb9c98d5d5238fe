"""``python -m evidence``: run parts of the evidence, or all of it, and write the report."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from evidence import fuzz, mutation, neighbours, report, suites
from evidence.audits import accounting, canary, releases

if TYPE_CHECKING:
    from collections.abc import Callable

_SUITES = {suite.name for suite in suites.SUITES}
PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    **{suite.name: (lambda suite=suite: suites.run(suite)) for suite in suites.SUITES},  # type: ignore[misc]
    mutation.PART: mutation.run,
    fuzz.PART: fuzz.run,
    fuzz.GUIDED: fuzz.run_guided,
    canary.PART: canary.run,
    releases.PART: releases.run,
    accounting.PART: accounting.run,
    neighbours.PART: neighbours.run,
}


def main() -> int:
    """Run what is asked for; 1 if any of it failed."""
    parser = argparse.ArgumentParser(prog="python -m evidence", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"all if none is named: {', '.join(PARTS)}")
    parser.add_argument("--report", action="store_true", help="only write docs/evidence.md from what was found before")
    parser.add_argument("--share", type=float, default=1.0, help="fuzz and audit with this share of the full counts")
    parser.add_argument("--resume", action="store_true", help="do not fuzz parsers again that withstood it before")
    parser.add_argument("--seed", default=neighbours.SEED, help="for neighbours: where the pairs come from")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown or not 0 < options.share <= 1:
        parser.error(f"there is no part {unknown[0]!r}" if unknown else "--share must be above 0 and at most 1")
    wanted = [] if options.report else options.parts or list(PARTS)
    tests = [name for name in wanted if name in _SUITES]
    failed = []
    # suites are tests in one process each, so that two run at a time; the other parts use all cores themselves
    with ThreadPoolExecutor(2) as pool:
        for name, found in zip(tests, pool.map(lambda name: PARTS[name](), tests), strict=True):
            failed += [] if found["passed"] else [name]
    for name in (name for name in wanted if name not in _SUITES):
        print(f"— {name}", flush=True)
        if not _run(name, options)["passed"]:
            failed.append(name)
    report.write()
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def _run(name: str, options: argparse.Namespace) -> dict[str, Any]:
    if name in (fuzz.PART, fuzz.GUIDED):
        return (fuzz.run if name == fuzz.PART else fuzz.run_guided)(options.share, resume=options.resume)
    if name == releases.PART:
        return releases.run(max(1, int(options.share * releases.DRAWS)))
    if name == neighbours.PART:
        return neighbours.run(options.share, seed=options.seed)
    return PARTS[name]()


if __name__ == "__main__":
    sys.exit(main())
