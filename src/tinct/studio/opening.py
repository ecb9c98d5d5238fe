"""Opening the browser without showing anybody the token.

The arguments of a process can be read by every user of the machine, and the address of a page becomes an argument of
the browser. So the browser is given the address of a small file that only its owner can read, which leads on to the
studio with a ticket. The ticket is good for one visit within a minute; afterwards the file is gone, and what a backup
or a history may have kept of it opens nothing.
"""

from __future__ import annotations

import hmac
import html
import os
import shutil
import tempfile
import threading
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from tinct.exact.sampler import token as new_token

if TYPE_CHECKING:
    from collections.abc import Callable

LIFETIME = 60.0  # seconds, enough for a browser that has to be started
_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>tinct studio</title>
<p><a href="{address}">Go on to tinct studio</a>
"""


class Tickets:
    """Tickets that are each good once, and only for a while; ``now`` is a clock in seconds."""

    def __init__(self, lifetime: float = LIFETIME, now: Callable[[], float] = time.monotonic) -> None:
        self._lifetime, self._now = lifetime, now
        self._held: dict[str, float] = {}
        self._lock = threading.Lock()
        self.used = threading.Event()

    def issue(self) -> str:
        """A new ticket."""
        ticket = new_token()
        with self._lock:
            self._held[ticket] = self._now() + self._lifetime
        return ticket

    def redeem(self, given: str) -> bool:
        """Whether this is a ticket that is still good; from now on it is not."""
        with self._lock:
            now = self._now()
            self._held = {ticket: end for ticket, end in self._held.items() if now < end}
            spelled = given.encode("utf-8", "replace")
            found = [ticket for ticket in self._held if hmac.compare_digest(ticket.encode(), spelled)]
            for ticket in found:
                del self._held[ticket]
        if found:
            self.used.set()
        return bool(found)


class Opening:
    """A private page that leads the browser to the studio, there until it was used, and for a minute at most."""

    def __init__(self, address: str, tickets: Tickets) -> None:
        self._address, self._tickets = address, tickets
        self._folder: str | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Open the browser in the background: a text browser would not come back before it is left."""
        page = self.page()
        threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
        threading.Thread(target=self._wait, daemon=True).start()

    def page(self) -> Path:
        """Write the page, in a new folder that only its owner can enter."""
        self._folder = _private_folder()
        page = Path(self._folder) / "open.html"
        address = html.escape(f"{self._address}?ticket={self._tickets.issue()}")
        with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(_PAGE.format(address=address))
        return page

    def close(self) -> None:
        """Remove the page, if it is still there."""
        with self._lock:
            folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _wait(self) -> None:
        self._tickets.used.wait(LIFETIME)
        self.close()


def _private_folder() -> str:
    """A folder of mode 0700, at home if that is possible: browsers in a sandbox see neither /tmp nor hidden folders."""
    try:
        return tempfile.mkdtemp(prefix="tinct-studio-", dir=os.path.expanduser("~"))
    except OSError:
        return tempfile.mkdtemp(prefix="tinct-studio-")
