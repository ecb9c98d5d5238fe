"""Everything that can be seen of a request: what is printed and raised, the plan, the files, and the ledger."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from evidence.pairs import writing
from evidence.pairs.watching import watched
from tinct import Ledger, Protection, ask
from tinct.asking import plan
from tinct.cli import main
from tinct.ledger import stored_rows
from tinct.privacy.neighbors import Neighbors
from tinct.sources import Description
from tinct.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evidence.pairs.cases import Case
    from evidence.pairs.watching import Watch

    Seen = dict[str, Any]

LEDGER = "budget.db"
_REQUEST = "the-request"
_ANSWERS = "tinct_answers"
_OF_THE_ANSWER = ("interval", "population_share")  # which follow from it alone
_OWNED = ("unit", "neighbors", "people", "epsilon_column", "budgets")
ROOT = Path(__file__).parents[2]


def look(case: Case, side: int, watch: Watch, folder: Path, view: str | None = None) -> Seen:
    """What is seen of one side. The folder is emptied first, so that both sides are at the same place."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = writing.data(case, side, folder)
    wanted = view or case.view
    with watched(watch):
        found = _VIEWS[wanted.partition(" ")[0]](case, rows, watch, folder)
    found["files"] = {path.name: path.stat().st_size for path in folder.iterdir() if path.stem != "people"}
    if (folder / LEDGER).exists():
        found["ledger"] = _rows_of(folder / LEDGER)
    if watch.unpaid:
        found["unpaid"] = watch.unpaid
    return found


def masked(seen: Seen) -> Seen:
    """The same without the answer: of what the ledger stores as one, only the length."""
    found = {name: value for name, value in seen.items() if name not in ("value", "ranges", "shown")}
    if isinstance(found.get("printed"), str):
        try:
            printed = {**json.loads(found["printed"]), "answer": None}
            found["printed"] = {name: value for name, value in printed.items() if name not in _OF_THE_ANSWER}
        except ValueError:
            del found["printed"]  # a table is as wide as its answers
    if "ledger" in found:
        stored = [[len(cell) if isinstance(cell, str) else cell for cell in row] for row in found["ledger"][_ANSWERS]]
        found["ledger"] = {**found["ledger"], _ANSWERS: stored}
    return found


# ways of looking


def _answer(case: Case, rows: Any, watch: Watch, folder: Path) -> Seen:  # noqa: ARG001 # one shape for all
    # all groups, also those that are cut off afterwards: what is cut off was drawn, or might have been
    options = {name: value for name, value in _options(case).items() if name != "most_groups"}
    return _tried(lambda: _shown(ask(rows, case.question, **options)))


def _plan(case: Case, rows: Any, watch: Watch, folder: Path) -> Seen:  # noqa: ARG001
    if case.ledger:
        made = _tried(lambda: _made(case, folder))
        return (
            made
            if "error" in made
            else _tried(lambda: {"plan": plan(rows, case.question, ledger=folder / LEDGER, **_asked(case)).to_dict()})
        )
    return _tried(lambda: {"plan": plan(rows, case.question, **_options(case, told=True)).to_dict()})


def _ledger(case: Case, rows: Any, watch: Watch, folder: Path) -> Seen:
    made = _tried(lambda: _made(case, folder))
    if "error" in made:
        return made
    watch.ledger = folder / LEDGER
    return _tried(lambda: _charged(case, rows, folder))


def _store(case: Case, rows: Any, watch: Watch, folder: Path) -> Seen:
    """The answer cannot be stored, with an error that names it; then all is well and the request comes again."""
    made = _tried(lambda: _made(case, folder))
    if "error" in made:
        return made
    watch.ledger = folder / LEDGER
    failures = (OSError, ValueError, RuntimeError, sqlite3.OperationalError)

    def failing(session: Any, entry: Any, text: str, state: Any) -> Any:  # noqa: ARG001
        raise failures[case.style % len(failures)](f"cannot store {text}")

    with patch.object(stored_rows, "add_answer", failing):
        first = _tried(lambda: _charged(case, rows, folder))
    return {"first": {"error": first.get("error"), "ledger": _rows_of(folder / LEDGER)}} | _again(case, rows, folder)


def _count(case: Case, rows: Any, watch: Watch, folder: Path) -> Seen:
    """Counting fails, with an error that shows the counts; then the request comes again."""
    made = _tried(lambda: _made(case, folder))
    if "error" in made:
        return made
    watch.ledger = folder / LEDGER
    kinds: tuple[type[Exception], ...] = (OSError, KeyError, MemoryError, RuntimeError)
    kind = kinds[case.style % len(kinds)]

    def failing(method: Any) -> Any:
        def fail(*given: Any, **options: Any) -> Any:
            raise kind(repr(method(*given, **options)))

        return fail

    with contextlib.ExitStack() as stack:
        for name in ("count", "count_by", "group_batches"):
            stack.enter_context(patch.object(Source, name, failing(getattr(Source, name))))
        first = _tried(lambda: _charged(case, rows, folder))
    return {"first": {"error": first.get("error"), "ledger": _rows_of(folder / LEDGER)}} | _again(case, rows, folder)


def _again(case: Case, rows: Any, folder: Path) -> Seen:
    return _tried(lambda: _charged(case, rows, folder))


def _command(case: Case, rows: Any, watch: Watch, folder: Path) -> Seen:
    made = _tried(lambda: _made(case, folder)) if case.ledger else {}
    if "error" in made:
        return made
    if case.ledger and "--plan" not in case.view:
        watch.ledger = folder / LEDGER
    printed, complaints = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["tinct", *arguments(case, rows, folder)]),
        patch.dict(os.environ, {"COLUMNS": "200", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(complaints),
    ):
        found = _tried(_run)
    return {**found, "printed": printed.getvalue(), "complaints": complaints.getvalue()}


def _process(case: Case, rows: Any, watch: Watch, folder: Path) -> Seen:
    """The command in a process of its own, with the dice watched there."""
    if case.ledger:
        _made(case, folder)
    task = {"turn": watch.turn, "hidden": sorted(watch.hidden), "arguments": arguments(case, rows, folder)}
    done = subprocess.run(  # noqa: S603 # our own module
        [sys.executable, "-m", "evidence.pairs.command", json.dumps(task)],
        cwd=ROOT, capture_output=True, check=False, env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    )  # fmt: skip
    return {"code": done.returncode, "printed": done.stdout.decode(), "complaints": done.stderr.decode()}


_VIEWS = {
    "answer": _answer, "plan": _plan, "ledger": _ledger, "store": _store, "count": _count, "command": _command,
    "process": _process,
}  # fmt: skip


# steps


def arguments(case: Case, rows: Any, folder: Path) -> list[str]:
    """The command line of a case."""
    given = ["ask", str(rows), case.question]
    told = "--plan" in case.view
    for name, value in (_asked(case) if case.ledger else _options(case, told=told)).items():
        if isinstance(value, Description):
            value.to_toml(folder / "described.toml")
            value = str(folder / "described.toml")
        given += [f"--{name.replace('_', '-')}", _written(value)]
    given += case.view.split()[1:]
    if case.ledger:
        given += ["--ledger", str(folder / LEDGER)]
    yes_no = case.kind != "mode" and "epsilon_column" not in case.options and case.groups != "found"
    if yes_no and case.style % 3 == 0:
        given += ["--certificate", str(folder / "certificate.json")]
    return given


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={size}" for name, size in value.items())
    return ",".join(value) if isinstance(value, list) else str(value)


def _made(case: Case, folder: Path) -> Seen:
    described = case.options.get("description")
    owner = Protection(
        unit=case.options.get("unit"),
        neighbors=Neighbors.of(case.relation),
        people=case.people,
        epsilon_column=case.options.get("epsilon_column"),
        budgets=_classes(case),
        description=described.digest if described is not None and case.style % 2 else None,
    )
    Ledger(folder / LEDGER, epsilon=1000, delta="0.9", protects=owner)
    return {}


def _classes(case: Case) -> dict[str, int] | None:
    """As declared; and as counted by the owner, if nothing was declared."""
    if "epsilon_column" not in case.options:
        return None
    return case.classes or dict.fromkeys(case.options["budgets"], 2)


def _options(case: Case, *, told: bool = False) -> dict[str, Any]:
    """What is asked without a ledger; a plan has to be told how many people there are."""
    options = dict(case.options)
    if options["neighbors"] == "replace" and "epsilon_column" not in options and (told or case.style % 2):
        options["people"] = case.people
    if told and "epsilon_column" in options:
        options["budgets"] = _classes(case)
    return options


def tells_numbers(case: Case) -> bool:
    """Whether the request without a ledger says how many people there are."""
    options = _options(case)
    return "people" in options or isinstance(options.get("budgets"), dict)


def _asked(case: Case) -> dict[str, Any]:
    """What is asked with a ledger, which knows what the owner declared."""
    options = dict(case.options)
    if "budgets" in options:
        options["budgets"] = _classes(case)
    if not case.silent:
        return options
    kept = {name: value for name, value in options.items() if name not in _OWNED}
    if options["neighbors"] != case.relation:
        kept["neighbors"] = options["neighbors"]
    return kept


def _charged(case: Case, rows: Any, folder: Path) -> Seen:
    return _shown(ask(rows, case.question, ledger=folder / LEDGER, request=_REQUEST, **_asked(case)))


def _shown(answer: Any) -> Seen:
    parts = answer.to_dict()
    return {
        "value": parts.pop("answer"),
        "ranges": {name: parts.pop(name, None) for name in _OF_THE_ANSWER},
        "answer": parts,
        "plan": answer.plan.to_dict(),
        "shown": [repr(answer), str(answer), answer._repr_html_()],
    }


def _run() -> Seen:
    try:
        main.run()
    except SystemExit as end:
        return {"code": end.code}
    return {"code": 0}


def _tried(work: Any) -> Seen:
    """What comes of it, or how it fails, with everything that hangs on the error."""
    try:
        found: Seen = work()
    except Exception as error:
        return {"error": list(_chain(error))}
    return found


def _chain(error: BaseException | None) -> Iterator[list[str]]:
    while error is not None:
        yield [type(error).__name__, str(error), *getattr(error, "__notes__", ())]
        error = error.__cause__ or error.__context__


def _rows_of(path: Path) -> dict[str, list[Any]]:
    """Every row of every table."""
    connection = sqlite3.connect(path)
    try:
        names = [
            row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        ]
        return {name: [list(row) for row in connection.execute(f'SELECT * FROM "{name}" ORDER BY 1')] for name in names}  # noqa: S608 # the ledger's own names
    finally:
        connection.close()
