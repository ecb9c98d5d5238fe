"""The studio as a web application: pages, navigation, and what happens when something fails."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html
from dash.exceptions import DashException, PreventUpdate
from flask import Flask
from werkzeug.exceptions import HTTPException

from tinct.errors import TinctError
from tinct.studio import parts
from tinct.studio.guard import Guard
from tinct.studio.opening import Tickets
from tinct.studio.pages import PAGES, Page
from tinct.studio.workshop import Workshop

if TYPE_CHECKING:
    from werkzeug import Response

ASSETS = Path(__file__).parent / "assets"
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Ccircle cx='16' cy='16' "
    "r='14' fill='%23E69F00'/%3E%3Cpath d='M16 16V2a14 14 0 1 1-12.1 21z' fill='%230072B2'/%3E%3C/svg%3E"
)
_INDEX = f"""<!DOCTYPE html>
<html lang="en">
<head>
{{%metas%}}
<title>{{%title%}}</title>
<link rel="icon" href="{_ICON}">
{{%css%}}
</head>
<body>
{{%app_entry%}}
<footer hidden>{{%config%}}{{%scripts%}}{{%renderer%}}</footer>
</body>
</html>"""
_MALFORMED = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)


def build(token: str, port: int, ledger: str | None = None, tickets: Tickets | None = None) -> Guard:
    """The guarded studio, ready to be served on a port of this machine."""
    workshop = Workshop(ledger)
    prefix = f"/{token}/"
    server = Flask("tinct.studio", static_folder=None)
    app = Dash(
        "tinct.studio",
        server=server,  # type: ignore[arg-type] # Dash takes a Flask application too, as it documents
        title="tinct studio",
        update_title="",
        assets_folder=str(ASSETS),
        requests_pathname_prefix=prefix,
        routes_pathname_prefix=prefix,
        index_string=_INDEX,
        serve_locally=True,
        suppress_callback_exceptions=True,
        meta_tags=[{"name": "color-scheme", "content": "light dark"}],
        add_log_handler=False,
    )
    app.layout = _frame(prefix)
    _navigate(app, prefix, workshop)
    for page in PAGES.values():
        page.register(app, workshop)
    server.register_error_handler(Exception, _failed)
    return Guard(
        server.wsgi_app,
        token=token,
        hosts=(f"127.0.0.1:{port}", f"localhost:{port}"),
        pages=("", *PAGES),
        work=lambda output: output in app.callback_map,
        inline=app.csp_hashes(),
        redeem=(tickets or Tickets()).redeem,
    )


def _failed(error: Exception) -> Response | tuple[str, int]:
    """A short answer without any details. Pages send settings that make sense: others are a bad request."""
    if isinstance(error, PreventUpdate):
        return "", 204
    if isinstance(error, HTTPException) and error.code is not None and error.code < 500:
        return f"{error.name}\n", error.code
    if isinstance(error, TinctError):
        return f"{error}\n", 400
    if isinstance(error, DashException):  # such as a script that is none of the pages'
        return "The studio has no such thing.\n", 404
    print(f"tinct studio: a request failed ({type(error).__name__})", file=sys.stderr, flush=True)
    if isinstance(error, _MALFORMED):
        return "The request makes no sense to the studio.\n", 400
    return "Something went wrong in the studio.\n", 500


def _frame(prefix: str) -> Any:
    """What stays when pages change: the navigation, and the settings of every page."""
    return html.Div(
        [
            dcc.Location(id="url"),
            dcc.Store(id="theme"),
            *(
                dcc.Store(id=f"{name}-state", data={"settings": page.start(), "shown": {}})
                for name, page in PAGES.items()
            ),
            html.A("Skip to the page", href="#page", className="skip"),
            html.Header(
                [
                    dcc.Link([html.Span(className="logo"), "tinct studio"], href=prefix, className="brand"),
                    html.Nav(id="nav", **parts.attributes(aria_label="Pages")),
                ],
                className="top",
            ),
            html.Main(id="page", tabIndex=-1),
        ],
        className="studio",
    )


def _navigate(app: Any, prefix: str, workshop: Workshop) -> None:
    states = {name: State(f"{name}-state", "data") for name in PAGES}

    @app.callback(  # type: ignore[untyped-decorator] # Dash's own
        output=(Output("page", "children"), Output("nav", "children")),
        inputs={"path": Input("url", "pathname"), "theme": Input("theme", "data")},
        state=states,
    )
    def show(path: Any, theme: Any, **given: Any) -> Any:
        if theme is None:  # the browser says in a moment whether it is light or dark
            raise PreventUpdate
        name = str(path or "").removeprefix(prefix).strip("/")
        chosen = name if name in PAGES else next(iter(PAGES))
        return PAGES[chosen].layout(given[chosen]["settings"], workshop), _links(chosen, prefix)

    app.clientside_callback(
        ClientsideFunction("studio", "theme"), Output("theme", "data"), Input("url", "pathname"), State("theme", "data")
    )


def _links(chosen: str, prefix: str) -> list[Any]:
    def link(name: str, page: Page) -> Any:
        current = parts.attributes(aria_current="page") if name == chosen else {}
        return html.Span(dcc.Link(page.title, href=prefix + name), className="current" if current else "", **current)

    return [link(name, page) for name, page in PAGES.items()]
