"""In a real notebook: a kernel is started without ipywidgets, and cells are run as Jupyter runs them."""

from __future__ import annotations

import base64
from typing import Any

import pytest

client = pytest.importorskip("jupyter_client.manager", reason="needs ipykernel")
pytest.importorskip("ipykernel", reason="needs ipykernel")
pytestmark = pytest.mark.xdist_group("kernel")  # one kernel serves all

_SURVEY = """
import pandas as pd, tinct
from tinct import Privacy, balanced, graphs
rows = pd.DataFrame({"support": ["yes"] * 500 + ["no"] * 20, "ward": ["N", "S"] * 260})
"""


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    """Run a cell and return what it shows: one dict of kinds of output for each."""
    folder = tmp_path_factory.mktemp("notebook")
    manager, kernel = client.start_new_kernel(kernel_name="python3", cwd=str(folder))

    def run(code: str) -> list[dict[str, Any]]:
        shown: list[dict[str, Any]] = []

        def keep(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] in ("execute_result", "display_data"):
                shown.append(content["data"])
            elif message["msg_type"] in ("error", "stream"):
                shown.append({message["msg_type"]: "\n".join(content.get("traceback", [content.get("text", "")]))})

        reply = kernel.execute_interactive(code, timeout=120, output_hook=keep)
        assert reply["content"]["status"] == "ok", shown
        return shown

    try:
        assert run(_SURVEY) == []
        assert run("import importlib.util; importlib.util.find_spec('ipywidgets')") == []  # None shows nothing
        yield run
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)


def _picture(shown: dict[str, Any]) -> bytes:
    return base64.b64decode(shown["image/png"])


@pytest.mark.parametrize("form", ["frame", "csv", "parquet", "relation"])
def test_questions_are_answered_in_a_notebook_without_widgets(cell, form):
    """DuckDB wants ipywidgets for a progress bar there, and refuses even to switch it off."""
    made = {
        "frame": "data = rows",
        "csv": "data = 'rows.csv'; rows.to_csv(data, index=False)",
        "parquet": "data = 'rows.parquet'; rows.to_parquet(data)",
        "relation": "import duckdb; data = duckdb.sql('SELECT * FROM rows')",
    }
    cell(made[form])
    (shown,) = cell("tinct.ask(data, 'majority(support)', epsilon=1)")
    assert "Private answer: yes" in shown["text/html"]
    (shown,) = cell("tinct.ask(data, 'majority(support)', epsilon=1, by='ward', groups=['N', 'S']).value")
    assert shown["text/plain"] == "{'N': 'yes', 'S': 'yes'}"


def test_a_plot_shows_itself(cell):
    """With and without pyplot, once, and as a picture; a figure that it was drawn into is shown once as well."""
    cell("made = balanced(graphs.majority(101), Privacy(1))")
    (shown,) = cell("made.plot()")
    assert _picture(shown).startswith(b"\x89PNG")
    (shown,) = cell("import matplotlib.pyplot as plt\nmade.plot()")
    assert _picture(shown).startswith(b"\x89PNG")
    shown = cell("figure, (left, right) = plt.subplots(1, 2)\nmade.plot(ax=left, kind='curves')")
    assert [sorted(each) for each in shown] == [["text/plain"], ["image/png", "text/plain"]]  # the axes, the figure


def test_a_notebook_sees_the_ledger_that_the_environment_names(cell):
    """As on the command line; it is charged."""
    cell("import os; tinct.Ledger('budget.db', epsilon=1); os.environ['TINCT_LEDGER'] = 'budget.db'")
    cell("tinct.ask(rows, 'majority(support)', epsilon='0.25')")
    (shown,) = cell("print(tinct.Ledger('budget.db').spent()); del os.environ['TINCT_LEDGER']")
    assert shown == {"stream": "ε = 0.25\n"}
