"""Draw the gallery into docs/gallery: ``python -m gallery``, or some of it: ``python -m gallery rainbow-3``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from gallery.page import EXHIBITS, file_names, page
from tinct.plots import save

HERE = Path(__file__).parents[1] / "docs" / "gallery"


def main(wanted: list[str]) -> int:
    """Draw all exhibits, or those that are named, and write the page."""
    unknown = sorted(set(wanted) - {exhibit.name for exhibit in EXHIBITS})
    if unknown:
        print(f"no such figure: {', '.join(unknown)}; there are {', '.join(e.name for e in EXHIBITS)}", file=sys.stderr)
        return 2
    HERE.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    chosen = [exhibit for exhibit in EXHIBITS if not wanted or exhibit.name in wanted]
    for number, exhibit in enumerate(chosen, start=1):
        print(f"[{number}/{len(chosen)}] {exhibit.name}: {exhibit.title}", flush=True)
        for name, dark in zip(file_names(exhibit), (False, True), strict=True):
            save(exhibit.draw(dark), HERE / name)
    (HERE / "index.md").write_text(page(), encoding="utf-8")
    size = sum(path.stat().st_size for path in HERE.iterdir())
    print(f"{len(chosen)} figures in {time.monotonic() - start:.0f} s; {HERE} has {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
