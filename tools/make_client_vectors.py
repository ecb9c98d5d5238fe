"""Write clients/vectors.json: mechanisms of every kind, reports from given bytes, and files that must be refused.

Every client runs it, in whatever language. ``--check`` only says whether the file is as it would be written.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct import local
from tinct.local import Memory
from tinct.local.report_files import envelope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinct.local import Chain, LocalMechanism

TARGET = Path(__file__).parent.parent / "clients" / "vectors.json"
DRAWS = 6  # for each mechanism
STREAM = 8 * 160  # bytes for each draw
N = 2**62

MECHANISMS = {
    "randomized response": local.randomized_response(5, "ln 3"),
    "cells": local.optimal([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], "1/3", symbols=["a", "b", "c", "d"]),
    "symbols of every kind": local.randomized_response(5, "0.1", symbols=["é", 1.5, (1, None), -7, True]),
    "table": local.geometric(4, 1),
    "table with delta": local.quaternary("ln 2", "1/7"),
    "reveal or cells": local.optimal([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], 1, delta="1/7"),
    "subset": local.subset_selection(6, 1, size=2),
    "subset of one": local.subset_selection(4, 2, size=1),
    "large subset": local.subset_selection(40, "1/2", size=15),
    "unary": local.unary_encoding(12, 2),
    "hash": local.local_hashing(60, 1),
    "hadamard": local.hadamard_response(5, "0.7"),
}


CHAINS = {
    "bits": local.repeated(5, 2, 1, symbols=["a", "b", "c", "d", "é"]),
    "cells": local.repeated(4, "ln 9", "ln 3", kind="cells"),
    "cells without fresh noise": local.repeated(3, 1, 1, kind="cells"),
    "hash": local.repeated(30, 3, "1/2", kind="hash", buckets=4),
}
_ANSWERS = (0, 0, 1, 0, 2, 1)


def vectors() -> dict[str, Any]:
    """Everything that the file holds."""
    return {
        "schema": "tinct/client-vectors@1",
        "mechanisms": [_vectors(name, mechanism) for name, mechanism in MECHANISMS.items()],
        "refused": [{"why": why, "file": text} for why, text in _refused()],
        "chains": [_chain(name, chain) for name, chain in CHAINS.items()],
        "refused_chains": [{"why": why, "file": text} for why, text in _refused_chains()],
    }


def _chain(name: str, chain: Chain) -> dict[str, Any]:
    """A chain, answers that change and come back, and memories that must be refused."""
    steps: list[dict[str, Any]] = []
    memory = None
    for at, code in enumerate(_ANSWERS):
        stream = b"".join(hashlib.sha256(f"{name} {at} {part}".encode()).digest() for part in range(STREAM // 32))
        source = io.BytesIO(stream)
        report, memory = chain.answer(chain.symbols[code], memory, source.read)
        used = stream[: source.tell()].hex()
        sent = envelope(chain.mechanism, report)
        steps.append({"symbol": chain.symbols[code], "bytes": used, "report": sent, "memory": memory.to_text()})
    first = steps[0]["memory"]
    damaged = [first.replace('"hash"', '"hash" '), first.replace("0", "1", 1), first[:-3], "{}", "", "[]"]
    ids = (chain.memo.id, chain.mechanism.id)
    damaged += [Memory(*ids, None, {0: 99}).to_text(), Memory(*ids, (0, 0), {}).to_text()]
    return {"name": name, "file": _text(chain), "steps": steps, "refused_memories": damaged}


def _refused_chains() -> Iterator[tuple[str, str]]:
    for name, chain in CHAINS.items():
        held = json.loads(_text(chain))
        truth = {"other": "1"} if name == "bits" else {"own": str(2**31 - 3), "other": "1"}
        for why, change in (
            ("a first stage that tells the truth", {"memo": {**held["memo"], **truth}}),
            ("less for a lifetime than it keeps", {"lifetime": "1/100"}),
            ("less for a report than it keeps", {"first": "1/100"}),
            ("growth above the budget", {"first_growth": "1000"}),
            ("too much noise", {"noise": str(2**31)}),
            ("noise that is a number", {"noise": 1}),
            ("another kind", {"kind": "dice"}),
            ("an unknown field", {"more": 1}),
            ("other units", {"memo": {**held["memo"], "denominator": str(2**32)}}),
        ):
            yield f"{name}: {why}", json.dumps({**held, **change}, ensure_ascii=False)


def _vectors(name: str, mechanism: LocalMechanism) -> dict[str, Any]:
    draws = []
    for at in range(DRAWS):
        stream = b"".join(hashlib.sha256(f"{name} {at} {part}".encode()).digest() for part in range(STREAM // 32))
        code = at % len(mechanism.symbols)
        source = io.BytesIO(stream)
        report = mechanism.randomiser.draw(np.array([code]), source.read)[0].tolist()
        symbol = mechanism.symbols[code]
        draws.append({
            "symbol": list(symbol) if isinstance(symbol, tuple) else symbol,
            "bytes": stream[: source.tell()].hex(),
            "report": report,
            "envelope": envelope(mechanism, report),
        })  # fmt: skip
    return {"name": name, "file": _text(mechanism), "id": mechanism.id, "draws": draws}


def _text(mechanism: LocalMechanism | Chain) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.json"
        mechanism.to_json(path)
        return path.read_text(encoding="utf-8")


def _refused() -> Iterator[tuple[str, str]]:
    """Files that state more than they keep, or that can be read in two ways."""
    files = {name: json.loads(_text(mechanism)) for name, mechanism in MECHANISMS.items()}
    one = files["randomized response"]
    units = one["randomiser"]
    own, other = int(units["own"]), int(units["other"])

    def changed(name: str, **fields: Any) -> str:
        return json.dumps({**files[name], "randomiser": {**files[name]["randomiser"], **fields}}, ensure_ascii=False)

    yield "always the truth, nearly", changed("randomized response", own=str(N - 4), other="1")
    yield "always the truth", changed("randomized response", own=str(N), other="0")
    yield "one unit for the truth too many", changed("randomized response", own=str(own + 4), other=str(other - 1))
    yield "units that do not add up", changed("randomized response", own=str(own + 1))
    yield (
        "always the truth, as a table",
        changed("table", rows=[[str(N if x == y else 0) for y in range(4)] for x in range(4)]),
    )
    yield "a subset that always holds the truth", changed("subset", inside=str(N))
    yield (
        "a subset with one unit too many",
        changed("subset", inside=str(int(files["subset"]["randomiser"]["inside"]) + 1)),
    )
    yield "bits that are hardly ever false", changed("unary", other="1")
    yield "a hash that tells its value", changed("hash", own=str(N - 3), other="1")
    yield "a hash modulo no prime", changed("hash", prime=63)
    yield "a matrix whose signs are the truth", changed("hadamard", plus=str(N))
    yield "more than delta", json.dumps({**files["table with delta"], "delta": "1/8"})
    told = int(files["reveal or cells"]["randomiser"]["reveal"])
    yield "a symbol told more often than delta", json.dumps({**files["reveal or cells"], "delta": "1/8"})
    yield "units of cells that tell too much", changed("reveal or cells", own=str(N - told - 1), other="1")
    yield "units to tell that are taken from nowhere", changed("reveal or cells", reveal=str(told + 1))
    yield "growth above the budget", json.dumps({**one, "growth": "4"})
    yield "a budget below the units", json.dumps({**one, "epsilon": "1.0986122886681096"})
    yield "a budget that is a number", json.dumps({**one, "epsilon": 2})
    yield "an unknown field", json.dumps({**one, "verified": True})
    yield "an unknown field of the randomiser", changed("randomized response", verified=True)
    yield "another kind", changed("randomized response", kind="dice")
    yield "another schema", json.dumps({**one, "schema": "tinct/local@2"})
    yield "symbols twice", json.dumps({**one, "symbols": [0, 1, 2, 3, 3.0]})
    yield "a symbol too few", json.dumps({**one, "symbols": [0, 1, 2, 3]})
    yield "units twice", _text(MECHANISMS["randomized response"]).replace('"own":', '"own":"1","own":')
    yield "units that are numbers", changed("randomized response", own=own)
    yield "a size that is a fraction", _text(MECHANISMS["subset"]).replace('"members":2', '"members":2.0')
    yield "half a character", _text(MECHANISMS["cells"]).replace('"a"', '"\\ud800"')
    yield "no JSON", _text(MECHANISMS["cells"])[:-3]


def text() -> str:
    """The file, one mechanism or refusal a line."""
    found = vectors()
    parts = [f'"schema": {json.dumps(found["schema"])}']
    for name in ("mechanisms", "refused", "chains", "refused_chains"):
        lines = ",\n".join(json.dumps(each, ensure_ascii=True, separators=(",", ":")) for each in found[name])
        parts.append(f'"{name}": [\n{lines}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(TARGET.read_text(encoding="utf-8") != text())
    TARGET.write_text(text(), encoding="utf-8")
