"""Who may talk to the studio: decided before a request reaches any page.

The studio listens on this machine only, but every web page in the same browser can send requests here too, and a name
that somebody else controls can be made to point here. So each request must name a host that is ours, carry the token of
the printed address, and, if it asks for work to be done, come from a page of the studio itself.
"""

from __future__ import annotations

import hmac
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from tinct._files import strict_json
from tinct.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    Environ = dict[str, Any]
    StartResponse = Callable[..., Any]
    Application = Callable[[Environ, StartResponse], Iterable[bytes]]

MAX_BODY = 8 * 2**20
WORK = "_dash-update-component"
_FILES = re.compile(r"assets/[\w.-]+|_dash-component-suites/\w+/[\w.@/-]+\w", re.ASCII)
_DOCUMENTS = ("_dash-layout", "_dash-dependencies", "_favicon.ico")
_SUSPECT = ("..", "\\", "\0", "//")


@dataclass(frozen=True)
class Refusal:
    """Why a request goes no further."""

    status: str
    reason: str
    headers: tuple[tuple[str, str], ...] = ()


_NO_TOKEN = Refusal(
    "403 Forbidden", "This address needs the token that 'tinct studio' printed: open the whole address it shows."
)


class Guard:
    """A WSGI application around the studio that lets only its own pages through.

    Args:
        inner: The studio.
        token: The secret in the printed address.
        hosts: The names, with port, under which the studio may be addressed.
        pages: The paths of the pages, without the token.
        work: Whether a name of outputs belongs to work that the pages know.
        inline: Hashes of the scripts that stand in the page itself, for the content security policy.
        redeem: Whether a text is a ticket that is still good, and from then on is not.
    """

    def __init__(
        self,
        inner: Application,
        *,
        token: str,
        hosts: Collection[str],
        pages: Collection[str],
        work: Callable[[str], bool],
        inline: Collection[str] = (),
        redeem: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._inner, self._token, self._hosts, self._redeem = inner, token, frozenset(hosts), redeem
        self._pages, self._work = frozenset(pages), work
        self._headers = security_headers(inline)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request, or refuse it."""

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            ours = {name.lower() for name, _ in self._headers}
            kept = [(name, value) for name, value in headers if name.lower() not in ours and not _is_cors(name)]
            return start_response(status, [*kept, *self._headers], *rest)

        if self._is_entrance(environ):
            start("303 See Other", [("Location", f"/{self._token}/"), ("Content-Length", "0")])
            return []
        refusal = self.refusal(environ)
        if refusal is not None:
            text = f"{refusal.reason}\n".encode()
            plain = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text)))]
            # what was not read would be taken for the next request
            start(refusal.status, [*plain, *refusal.headers, ("Connection", "close")])
            return [] if environ.get("REQUEST_METHOD") == "HEAD" else [text]
        return self._inner(environ, start)

    def refusal(self, environ: Environ) -> Refusal | None:
        """The reason to turn a request away, or None if it may pass; reads the body of one that may."""
        method = environ.get("REQUEST_METHOD", "")
        if environ.get("HTTP_HOST") not in self._hosts:
            return Refusal("403 Forbidden", "This host name is not the studio's.")
        if method not in ("GET", "HEAD", "POST"):
            return Refusal("405 Method Not Allowed", "Only GET and POST are answered.", (("Allow", "GET, POST"),))
        if environ.get("HTTP_UPGRADE"):
            return Refusal("400 Bad Request", "The studio speaks plain HTTP only.")
        return self._refused_path(environ, method) or (self._refused_work(environ) if method == "POST" else None)

    def _is_entrance(self, environ: Environ) -> bool:
        """Whether this is the printed address, or the browser's first visit with a ticket: both lead to the pages."""
        if environ.get("PATH_INFO") != "/" or environ.get("REQUEST_METHOD") != "GET":
            return False
        if environ.get("HTTP_HOST") not in self._hosts or environ.get("HTTP_UPGRADE"):
            return False
        try:
            given = parse_qs(environ.get("QUERY_STRING", ""), max_num_fields=5)
        except ValueError:  # more fields than any address of ours has
            return False
        tokens, tickets = given.get("token", []), given.get("ticket", [])
        if len(tokens) + len(tickets) != 1:
            return False
        return self._is_token(tokens[0]) if tokens else self._redeem(tickets[0])

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def _refused_path(self, environ: Environ, method: str) -> Refusal | None:
        path = environ.get("PATH_INFO", "")
        token, slash, rest = path.removeprefix("/").partition("/")
        if not self._is_token(token) or not slash:
            return _NO_TOKEN
        site, mode = environ.get("HTTP_SEC_FETCH_SITE"), environ.get("HTTP_SEC_FETCH_MODE")
        if site not in (None, "same-origin", "none") and mode != "navigate":
            return Refusal("403 Forbidden", "Another site may link to the studio, but not use it.")
        if any(part in rest for part in _SUSPECT):
            return Refusal("400 Bad Request", "This is not a path of the studio.")
        if rest == WORK:
            return None if method == "POST" else Refusal("405 Method Not Allowed", "Use POST.", (("Allow", "POST"),))
        if rest not in self._pages and rest not in _DOCUMENTS and not _FILES.fullmatch(rest):
            return Refusal("404 Not Found", "The studio has no such page.")
        if method == "POST":
            return Refusal("405 Method Not Allowed", "This can only be read.", (("Allow", "GET"),))
        if environ.get("HTTP_TRANSFER_ENCODING") or environ.get("CONTENT_LENGTH", "0") not in ("", "0"):
            return Refusal("400 Bad Request", "A request to read has no body.")
        return None

    def _refused_work(self, environ: Environ) -> Refusal | None:
        """Work is done only for the studio's own pages, and only if it is asked for in their words."""
        if environ.get("HTTP_ORIGIN") != f"http://{environ.get('HTTP_HOST')}":
            return Refusal("403 Forbidden", "Only the studio's own pages may ask for work.")
        if environ.get("HTTP_SEC_FETCH_SITE") not in (None, "same-origin"):
            return Refusal("403 Forbidden", "Only the studio's own pages may ask for work.")
        if environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != "application/json":
            return Refusal("415 Unsupported Media Type", "Work is asked for in JSON.")
        length = environ.get("CONTENT_LENGTH") or ""
        if environ.get("HTTP_TRANSFER_ENCODING") or not (length.isascii() and length.isdecimal()):
            return Refusal("411 Length Required", "State the length of the request.")
        if len(length) > 12 or int(length) > MAX_BODY:
            return Refusal("413 Content Too Large", f"At most {MAX_BODY // 2**20} MB are read.")
        body = environ["wsgi.input"].read(int(length))
        if not self._is_known_work(body):
            return Refusal("400 Bad Request", "This is not a request that the studio's pages make.")
        environ["wsgi.input"] = io.BytesIO(body)
        return None

    def _is_known_work(self, body: bytes) -> bool:
        try:
            asked = strict_json(body.decode("utf-8"), "request")
        except (FileError, UnicodeDecodeError):
            return False
        if not isinstance(asked, dict) or not isinstance(asked.get("output"), str) or not self._work(asked["output"]):
            return False
        inputs, state, changed = asked.get("inputs"), asked.get("state", []), asked.get("changedPropIds")
        return (
            isinstance(inputs, list)
            and isinstance(state, list)
            and all(isinstance(part, dict) and "id" in part and "property" in part for part in [*inputs, *state])
            and isinstance(changed, list)
            and all(isinstance(name, str) for name in changed)
            and isinstance(asked.get("outputs"), dict | list)
        )


def security_headers(inline: Collection[str]) -> list[tuple[str, str]]:
    """Headers of every answer: nothing from elsewhere, not inside other pages, nothing kept.

    Styles may stand in the page, because charts and sliders set their own; scripts may not.
    """
    policy = {
        "default-src": "'none'",
        "script-src": " ".join(["'self'", *inline]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return [
        ("Content-Security-Policy", "; ".join(f"{name} {value}" for name, value in policy.items())),
        ("X-Frame-Options", "DENY"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
        ("Cache-Control", "no-store"),
    ]


def _is_cors(name: str) -> bool:
    return name.lower().startswith("access-control-")
