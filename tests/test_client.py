"""Clients: JavaScript, Go and Python give the same reports for the same bytes and refuse exactly the same files."""

from __future__ import annotations

import base64
import copy
import json
import math
import os
import re
import shutil
import subprocess
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import pytest
from tools import make_client_vectors

from tinct import local
from tinct.errors import FileError, TinctError
from tinct.local.mechanism_files import read_mechanism, write_mechanism

NODE = shutil.which("node")
GO = shutil.which("go")
CLIENTS = Path(__file__).parent.parent / "clients"
CLIENT = CLIENTS / "javascript" / "tinct.js"
N = 2**62

pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")

VALID = {
    "cells, ln": local.randomized_response(5, "ln 3"),
    "cells, decimal": local.randomized_response(3, "0.1", symbols=["a", "b", "c"]),
    "cells, fraction": local.optimal([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], "1/3"),
    "cells, huge": local.randomized_response(4, 700),
    "cells, tiny": local.randomized_response(2, "1e-6", symbols=[True, "x"]),
    "table": local.geometric(4, 1),
    "table, delta": local.quaternary(1, "0.05"),
    "table, delta and ln": local.quaternary("ln 2", "1/7"),
    "subset": local.subset_selection(6, 1, size=2),
    "subset, ln": local.subset_selection(5, "ln 21/10", size=3, symbols=[(1, "a"), (1, None), 1.5, "é", -7]),
    "unary": local.unary_encoding(4, 2),
    "hash": local.local_hashing(6, 1),
    "hadamard": local.hadamard_response(5, "0.7"),
}

HARNESS = """
const { read, check, privatize } = await import(process.argv[1]);
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const said = (act) => { try { act(); return null; } catch (error) { return String(error.message || error); } };
console.log(JSON.stringify(texts.map((text) => {
  let object;
  try { object = JSON.parse(text); } catch { object = null; }
  const first = (object?.symbols ?? [0])[0];
  return [() => read(text), () => check(object), () => privatize(object, first)].map(said);
})));
"""


def in_node(script, *arguments, given="", timeout=120):
    """What a script prints."""
    begin = 'import { createRequire } from "module"; const require = createRequire("/");'
    line = [NODE, "--input-type=module", "-e", begin + script, *map(str, arguments)]
    run = subprocess.run(line, input=given, capture_output=True, text=True, timeout=timeout, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def in_javascript(texts):
    """For each file what the client says against its text, against its object, and instead of a first report."""
    return json.loads(in_node(HARNESS, CLIENT, given=json.dumps(texts)))


@pytest.fixture(scope="session")
def in_go(tmp_path_factory):
    """For each file what the Go client says against it; its own tests run the vectors on the way."""
    folder = tmp_path_factory.mktemp("go")
    built = subprocess.run(
        [GO, "test", "-vet=off", "-c", "-o", str(folder / "judge")],
        cwd=CLIENTS / "go", capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "GOFLAGS": "", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"},
    )  # fmt: skip
    assert built.returncode == 0, built.stderr

    def judge(texts):
        given = folder / "forgeries.json"
        encoded = [base64.b64encode(text.encode("utf-8", "surrogatepass")).decode() for text in texts]
        given.write_text(json.dumps(encoded))
        environment = {**os.environ, "TINCT_FORGERIES": str(given)}
        run = subprocess.run(
            [folder / "judge"], cwd=CLIENTS / "go", env=environment, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout
        return [said or None for said in json.loads(Path(f"{given}.verdicts").read_text())]

    return judge


def in_python(texts, folder):
    """For each file what the Python reader says against it; nothing but a FileError may come."""
    path, found = folder / "m.json", []
    for text in texts:
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            read_mechanism(path)
            found.append(None)
        except FileError as error:
            found.append(str(error).removeprefix(f"{path}: "))
    return found


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    """The texts of honest files."""
    path = tmp_path_factory.mktemp("valid") / "m.json"
    texts = {}
    for name, mechanism in VALID.items():
        write_mechanism(mechanism, path)
        texts[name] = path.read_text(encoding="utf-8")
    return texts


# forgeries


def forgeries(text):
    """Files like this one in which one thing is wrong, or at least different."""
    fields = json.loads(text)
    yield from map(json.dumps, _changed_values(fields))
    yield from map(json.dumps, _changed_units(fields))
    yield from map(json.dumps, _changed_promises(fields))
    yield from map(json.dumps, _changed_objects(fields))
    yield from _changed_texts(text)


def _edited(fields, path, value):
    changed = copy.deepcopy(fields)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def _leaves(value, path=()):
    """The places of values; of a list the first and the last."""
    if isinstance(value, dict):
        for key in value:
            if (*path, key) != ("channel",):  # a description, which nobody runs
                yield from _leaves(value[key], (*path, key))
    elif isinstance(value, list):
        yield path, value
        for at in sorted({0, len(value) - 1}):
            yield from _leaves(value[at], (*path, at))
    else:
        yield path, value


def _changed_values(fields):
    strange = [
        None,
        True,
        -1,
        1.5,
        "",
        "x",
        "-1",
        " 1",
        "01",
        "1.0",
        "0x1",
        "1n",
        "٣",
        "9" * 19,
        "9" * 20,
        [],
        {},
        [[]],
    ]
    for path, value in _leaves(fields):
        others = list(strange)
        if isinstance(value, list):
            others += [value[:-1], [*value, value[0]], value[::-1], [value[0]] * len(value), {"0": value[0]}]
        elif isinstance(value, str) and value.isdigit():
            number = int(value)
            others += [str(number + 1), str(max(number - 1, 0)), number, float(number), str(2 * number), value + "0"]
        elif type(value) is int:
            others += [value + 1, value - 1, 2 * value, str(value), value + 0.5, value + 2**40, 0]
        for other in others:
            if other != value or type(other) is not type(value):
                yield _edited(fields, path, other)


def _changed_units(fields):
    """Units that favour the truth by a little or by everything, and still add up."""
    held = fields["randomiser"]
    kind, total = held["kind"], int(held["denominator"])
    for step in (1, 2, 1000, total // 10**6, -1, -1000):
        if kind in ("cells", "hash"):
            others = held["cells" if kind == "cells" else "buckets"] - 1
            units = {"own": int(held["own"]) + step * others, "other": int(held["other"]) - step}
        elif kind == "table":
            yield from _shifted_rows(fields, step)
            continue
        else:
            name = {"subset": "inside", "unary": "other", "hadamard": "plus"}[kind]
            units = {name: int(held[name]) + (-step if kind == "unary" else step)}
        yield _with_units(fields, units)
    extreme = {
        "cells": [{"own": total - held.get("cells", 0) + 1, "other": 1}, {"own": total, "other": 0}],
        "hash": [{"own": total - held.get("buckets", 0) + 1, "other": 1}, {"own": total, "other": 0}],
        "subset": [{"inside": total}, {"inside": total - 1}, {"inside": 0}, {"inside": total + 1}],
        "unary": [{"other": 1}, {"other": 0}, {"other": total // 2}, {"other": total}],
        "hadamard": [{"plus": total}, {"plus": total - 1}, {"plus": total // 2}, {"plus": 0}],
    }
    for units in extreme.get(kind, []):
        yield _with_units(fields, units)
    for denominator in (0, 1, 2, total - 1, total + 1, 2 * total, total // 2):
        yield _edited(fields, ("randomiser", "denominator"), str(denominator))


def _with_units(fields, units):
    changed = copy.deepcopy(fields)
    changed["randomiser"].update({name: str(number) for name, number in units.items()})
    return changed


def _shifted_rows(fields, step):
    rows = [[int(entry) for entry in row] for row in fields["randomiser"]["rows"]]
    for at, (one, other) in product(range(len(rows)), combinations(range(len(rows[0])), 2)):
        changed = [list(row) for row in rows]
        changed[at][one] += step
        changed[at][other] -= step
        yield _edited(fields, ("randomiser", "rows"), [[str(entry) for entry in row] for row in changed])
    truth = [
        [str(int(fields["randomiser"]["denominator"]) * (y == x)) for y in range(len(rows[0]))]
        for x in range(len(rows))
    ]
    yield _edited(fields, ("randomiser", "rows"), truth)


def _changed_promises(fields):
    """Another ε, δ or R than the units keep, in every way that it can be written, and in ways that it cannot."""
    epsilons = [
        "0.1", "0.01", "1", "2", "7", "0.69", "1/3", "10/3", "1/30", "1 / 3", "1/3/3", "+1", "-1/-2", "1.", ".5",
        "1e+0", " 1 ",
        "ln 2", "ln(2)", "log 2", "log( 21/10 )", "ln 2.1", "ln 2.0", "ln 3", "ln 3.0e0", "ln 2.999999999999999999999",
        "ln 3/1",
        "ln 30", "ln 1", "ln 0.5", "ln 0", "ln -3", "ln", "ln 2 3", "lg 2", "e", "ln ln 2", "LN 2", "Ln 2", "ln  2",
        "ln 1e304", "ln 1e305", "700", "700.0000000000000001", "701", "1e400", "1e-400", "1e401", "1e99999999",
        "1e-99999999",
        "1e-800/1e400", "1/0", "0", "-1", "--1", ".", "1e", "1_0", "0x1", "1,0", "∞", "inf", "nan", f"1e{'0' * 50}1",
        "\t1", "1\n", "1\u00a0", "\ufeff1", "\u0661", "ln\u00a02", "ln\t2", "9" * 1000, "1/" + "9" * 998,
        "0." + "3" * 998,
        "0." + "3" * 999, f"0.{'3' * 900}e-400", f"ln 1.{'0' * 49}5", f"ln 1.{'0' * 49}51",
    ]  # fmt: skip
    for epsilon in epsilons:
        yield {**fields, "epsilon": epsilon}
    for delta in (
        "0",
        "0.0",
        "1",
        "2",
        "-0.1",
        "1/7",
        "0.04999",
        "0.05",
        "1/20",
        "1/200",
        "1e-400",
        "1e-401",
        "1e-9",
        "0/1",
        "1/0",
    ):
        yield {**fields, "delta": delta}
    for growth in (
        "0",
        "1",
        "2",
        "3",
        "4",
        "2/1",
        "6/2",
        "21/10",
        "3/0",
        "1/2",
        "03",
        "-3",
        "1e3",
        "3.0",
        "9" * 1300,
        "9" * 1301,
        f"{10**1299 + 7}/{10**1299 + 6}",
        f"{10**1299 + 7}/{10**1298 + 1}",
        f"{10**1300 + 7}/{10**1299 + 6}",
        f"{10**1299 + 7}/{10**1300 + 6}",
        " 3",
    ):
        yield {**fields, "growth": growth}
    above, below = (int(part) for part in [*fields["growth"].split("/"), "1"][:2])
    for factor in (Fraction(2**90 + 1, 2**90), Fraction(2**59 + 1, 2**59), Fraction(2**90 - 1, 2**90), Fraction(10)):
        yield {**fields, "growth": str(Fraction(above, below) * factor)}
    for other in ("tinct/local@2", "tinct/certificate@1", "", None, 1):
        yield {**fields, "schema": other}


def _changed_objects(fields):
    """Fields that are missing, unknown, inherited, or of another kind of randomiser."""
    for path in ((), ("randomiser",)):
        inner = fields["randomiser"] if path else fields
        for name in inner:
            changed = {key: value for key, value in inner.items() if key != name}
            yield {**fields, "randomiser": changed} if path else changed
            yield _edited(fields, (*path, name + " "), inner[name])
        for name in ("verified", "__proto__", "constructor", "toString", "prototype", "hasOwnProperty", ""):
            for value in (True, {"own": "1", "kind": "cells"}, None):
                yield _edited(fields, (*path, name), value)
        without = {key: value for key, value in inner.items() if key != "kind"}
        inherited = {**without, "__proto__": {"kind": "cells", "schema": "tinct/local@1"}}
        yield {**fields, "randomiser": inherited} if path else inherited
    for kind in (
        "cells",
        "table",
        "subset",
        "unary",
        "hash",
        "hadamard",
        "dice",
        "__proto__",
        "constructor",
        "Cells",
        ["cells"],
    ):
        if kind != fields["randomiser"]["kind"]:
            yield _edited(fields, ("randomiser", "kind"), kind)
    yield [fields]
    yield {**fields, "randomiser": [fields["randomiser"]]}
    symbols = fields["symbols"]
    for first in (
        "a" * 20_000,
        "\ud800",
        "x\udc00y",
        [None],
        [[[]]],
        {"a": 1},
        [1, [2, {}]],
        1.0,
        0.0,
        "0",
        [symbols[-1]],
    ):
        yield {**fields, "symbols": [first, *symbols[1:]]}
    deep = 1
    for nested in range(20):
        deep = [deep]
        if nested in (14, 15, 16, 19):
            yield {**fields, "symbols": [deep, *symbols[1:]]}
    for pair in ([True, 1], [0, False], [1, 1.0], ["1", 1], [[1, True], [1.0, 1]], [[1], 1]):
        yield {**fields, "symbols": [*pair, *range(10, 8 + len(symbols))]}
    size = len(symbols)
    for p0 in (
        ["1", *["0"] * (size - 1)],
        [True, *[0] * (size - 1)],
        [1, *[0] * (size - 1)],
        [1 / size] * size,
        [0.5] * size,
        [1.0],
    ):
        yield {**fields, "p0": p0, "p1": p0}
        yield {**fields, "p0": p0, "p1": None}
        yield {**fields, "p0": None, "p1": p0}
        yield {**fields, "p0": dict(zip(map(str, symbols), p0, strict=False)), "p1": p0}
    for name in ("value", "upper_bound"):
        for value in (1, -2.5, "1", 10**299, 10**301, 10**398, True, []):
            yield {**fields, name: value}
    for name in ("note", "name", "certificate", "utility"):
        for value in ("x" * 10_000, "x" * 10_001, "😀" * 10_000, "😀" * 10_001, None, 1, "\x1b[31m"):
            yield {**fields, name: value}


def _changed_texts(text):
    """What a parser of JSON may or may not tell apart."""
    size = re.search(r'"size":(\d+),"denominator"', text)[1]
    held = f'"size":{size},"denominator"'
    for literal in (
        f"{size}.0",
        f"{size}e0",
        f"{size}E0",
        f"-{size}",
        f"{size}.5",
        f"0{size}",
        f"+{size}",
        f'"{size}"',
        "NaN",
        "-0",
    ):
        yield text.replace(held, f'"size":{literal},"denominator"')
    yield text.replace(held, f'"size":{size},{held}')
    yield text.replace(held, f'"size":1,{held}')
    yield text.replace(held, f'"\\u0073ize":{size},{held}')
    yield text.replace('"epsilon"', '"epsilon": "0.001",\n"epsilon"', 1)
    yield text.replace('"schema"', '"randomiser": {"kind": "cells"},\n"schema"', 1)
    yield text.replace('"schema"', '"__proto__": {"growth": "1"}, "schema"', 1)
    for channel in (
        "1e999",
        "1e308",
        "-1e400",
        '{"a":1,"a":1}',
        '{"a":{"b":1},"b":1}',
        '{"a":"\\ud800"}',
        '{"a":[1,1,"a"]}',
        "{}",
    ):
        yield re.sub('"channel": .*', lambda _, channel=channel: f'"channel": {channel},', text, count=1)
    for depth in (61, 62, 63, 64, 65, 100):
        nested = f'{{"a":{"[" * depth}{"]" * depth}}}'
        yield re.sub('"channel": .*', lambda _, nested=nested: f'"channel": {nested},', text, count=1)
    for digits in (300, 400, 401):
        number = f'{{"a":{"1" * digits}}}'
        yield re.sub('"channel": .*', lambda _, number=number: f'"channel": {number},', text, count=1)
    yield from (
        "",
        " ",
        "null",
        "[]",
        "{}",
        "1",
        '"x"',
        text[:-3],
        text + "x",
        text + text,
        "\ufeff" + text,
        "\ufeff\ufeff" + text,
    )
    yield text.replace("}", "},", 1)
    yield text.replace('"', "'")
    yield "// a comment\n" + text
    yield text.replace("\n", "\r\n\t ")
    yield text.replace("\n", "\u00a0\n", 1)
    yield text.replace('"name": "', '"name": "\t', 1)
    yield text.replace('"name": "', '"name": "\\ud83d\\ude00', 1)
    yield text.replace('"name": "', '"name": "\\ud83d', 1)


# what the units say, written out


def reports_of(fields):
    """For each symbol the exact distribution of its reports, from the numbers of the file by docs/client.md."""
    held = fields["randomiser"]
    k, total, kind = held["size"], int(held["denominator"]), held["kind"]
    units = {name: Fraction(int(held[name]), total) for name in ("own", "other", "inside", "plus") if name in held}
    if kind == "cells":
        chances = (units["other"], units["own"])
        return [{y: chances[y == cell] for y in range(held["cells"])} for cell in held["cell_of"]]
    if kind == "table":
        return [{y: Fraction(int(entry), total) for y, entry in enumerate(row)} for row in held["rows"]]
    if kind == "subset":
        d = held["members"]
        ways = {True: math.comb(k - 1, d - 1), False: math.comb(k - 1, d)}
        chances = {True: units["inside"], False: 1 - units["inside"]}
        return [{s: chances[x in s] / ways[x in s] for s in combinations(range(k), d)} for x in range(k)]
    if kind == "unary":
        ones, rows = (units["other"], Fraction(1, 2)), list(product((0, 1), repeat=k))
        return [{s: math.prod(abs(1 - b - ones[z == x]) for z, b in enumerate(s)) for s in rows} for x in range(k)]
    if kind == "hash":
        p, g = held["prime"], held["buckets"]
        seeds = list(product(range(1, p), range(p)))
        chances = [units["other"] / len(seeds), units["own"] / len(seeds)]
        return [{(a, b, y): chances[(a * x + b) % p % g == y] for a, b in seeds for y in range(g)} for x in range(k)]
    half = Fraction(2, held["order"])
    chances = [half * units["plus"], half * (1 - units["plus"])]
    return [{y: chances[(x + 1 & y).bit_count() % 2] for y in range(held["order"])} for x in range(k)]


def barely_above_exp(text):
    """A little more than e^ε, by the decimal module, which shares nothing with tinct."""
    inner = re.fullmatch(r"\s*(?:ln|log)\s*\(?(.*?)\)?\s*", text)
    above, _, below = (inner[1] if inner else text).partition("/")
    value = Fraction(above.strip()) / Fraction(below.strip() or "1")
    if inner:
        return value
    with localcontext() as context:
        context.prec = 400
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).exp()) * (1 + Fraction(1, 10**390))


# the laws


@pytest.fixture(scope="module")
def judged(valid, tmp_path_factory):
    """Every forgery with what Python and JavaScript say."""
    every = list(dict.fromkeys(forged for text in valid.values() for forged in forgeries(text)))
    return list(zip(every, in_python(every, tmp_path_factory.mktemp("forged")), in_javascript(every), strict=True))


def test_honest_files_are_accepted_by_both(valid, tmp_path):
    """What tinct writes, both read."""
    texts = list(valid.values())
    assert in_python(texts, tmp_path) == [None] * len(texts)
    assert in_javascript(texts) == [[None] * 3] * len(texts)


def test_both_readers_refuse_exactly_the_same_forged_files(judged):
    """Thousands of files with one thing changed: no file is accepted by one reader and refused by the other."""
    apart = [(python, client[0], text) for text, python, client in judged if (python is None) != (client[0] is None)]
    assert apart == []
    refused = sum(python is not None for _, python, _ in judged)
    assert refused >= 200 * len(VALID)


@pytest.mark.skipif(GO is None, reason="Go is not installed")
def test_go_refuses_exactly_the_same_forged_files_too(judged, in_go):
    """The third reader, written in another language with another parser of JSON."""
    verdicts = in_go([text for text, _, _ in judged])
    apart = [(p, g, text) for (text, p, _), g in zip(judged, verdicts, strict=True) if (p is None) != (g is None)]
    assert apart == []


@pytest.mark.skipif(GO is None, reason="Go is not installed")
def test_go_runs_the_vectors(in_go):
    """The tests of the Go client itself: ids, reports, envelopes and refusals of the common file."""
    assert in_go([""]) == ["the mechanism is refused: the file is not JSON"]


def test_the_vectors_are_what_python_draws():
    """One file for clients in every language; when a mechanism changes, ``tools/make_client_vectors.py`` writes it."""
    assert (CLIENTS / "vectors.json").read_text(encoding="utf-8") == make_client_vectors.text()


def test_javascript_runs_the_vectors():
    """Ids, reports and envelopes from given bytes, of which all are read; and every forged file is refused."""
    script = """
      const { read, id, privatize, report } = await import(process.argv[1]);
      const { mechanisms, refused } = JSON.parse(require("fs").readFileSync(0, "utf8"));
      const wrong = [];
      for (const { name, file, id: expected, draws } of mechanisms) {
        const mechanism = read(file);
        if (id(mechanism) !== expected) wrong.push([name, id(mechanism)]);
        for (const { symbol, bytes, report: raw, envelope } of draws)
          for (const [act, wanted] of [[privatize, raw], [report, envelope]]) {
            const left = Array.from(bytes.matchAll(/../g), ([byte]) => parseInt(byte, 16));
            const got = act(mechanism, symbol, (size) => Uint8Array.from(left.splice(0, 8).slice(0, size)));
            if (JSON.stringify(got) !== JSON.stringify(wanted) || left.length) wrong.push([name, got, wanted, left]);
          }
      }
      for (const { why, file } of refused) {
        try { read(file); wrong.push(why); } catch {}
      }
      console.log(JSON.stringify([mechanisms.length, refused.length, wrong]));
    """
    made, refused, wrong = json.loads(in_node(script, CLIENT, given=(CLIENTS / "vectors.json").read_text()))
    assert (made, wrong) == (len(make_client_vectors.MECHANISMS), [])
    assert refused > 20


def test_javascript_keeps_the_memories_of_the_vectors():
    """Answers that change and come back: the same reports and the same memories; changed ones are refused."""
    script = """
      const { readChain, answer } = await import(process.argv[1]);
      const { chains, refused_chains } = JSON.parse(require("fs").readFileSync(0, "utf8"));
      const wrong = [];
      for (const { name, file, steps, refused_memories } of chains) {
        const chain = readChain(file);
        let memory = null;
        for (const step of steps) {
          const left = Array.from(step.bytes.matchAll(/../g), ([byte]) => parseInt(byte, 16));
          const source = (size) => Uint8Array.from(left.splice(0, 8).slice(0, size));
          const got = answer(chain, step.symbol, memory, source);
          const same = JSON.stringify(got.report) === JSON.stringify(step.report) && got.memory === step.memory;
          if (!same || left.length) wrong.push([name, got, step, left]);
          memory = got.memory;
        }
        for (const forged of refused_memories)
          try { answer(chain, steps[0].symbol, forged); wrong.push([name, forged]); } catch (error) {
            if (!error.message.startsWith("the memory is refused")) wrong.push([name, error.message]);
          }
        try { readChain(file, { lifetime: "0.9", first: "0.9" }); wrong.push([name, "limit"]); } catch {}
        try { answer(JSON.parse(file), steps[0].symbol); wrong.push([name, "unverified"]); } catch {}
      }
      for (const { why, file } of refused_chains) {
        try { readChain(file); wrong.push(why); } catch {}
      }
      console.log(JSON.stringify([chains.length, refused_chains.length, wrong]));
    """
    given = (CLIENTS / "vectors.json").read_text()
    assert json.loads(in_node(script, CLIENT, given=given)) == [4, 36, []]


def test_two_hundred_phones_answer_twice(tmp_path):
    """A whole collection: phones in JavaScript with memories, two rounds of lines, counts, shares and a change."""
    chain = local.repeated(3, 5, 4, kind="cells", symbols=["yes", "no", "unsure"])
    chain.to_json(tmp_path / "chain.json")
    script = """
      const { readChain, answer } = await import(process.argv[1]);
      const fs = require("fs");
      const chain = readChain(fs.readFileSync(process.argv[2], "utf8"), { lifetime: "5", first: "4" });
      const memories = Array(200).fill(null);
      for (const turn of [1, 2]) {
        const lines = memories.map((memory, phone) => {
          const said = phone % 4 ? "yes" : turn === 1 ? "no" : "unsure";
          const { report, memory: after } = answer(chain, said, memory);
          memories[phone] = after;
          return JSON.stringify({ ...report, phone_time: `0${turn}:00` });
        });
        fs.writeFileSync(`${process.argv[3]}/${turn}.jsonl`, lines.join("\\n") + "\\nlost connection\\n");
      }
      console.log(memories.filter((text) => Object.keys(JSON.parse(text).drawn).length === 2).length);
    """
    changed = in_node(script, CLIENT, tmp_path / "chain.json", tmp_path)
    assert int(changed) == 50
    rounds = [local.tally(tmp_path / f"{turn}.jsonl", chain.mechanism) for turn in (1, 2)]
    assert [(each.reports, each.rejected.total()) for each in rounds] == [(200, 1)] * 2
    shares = rounds[0].estimate(1 - 1e-9)
    assert ((shares.low <= [0.75, 0.25, 0]) & (shares.high >= [0.75, 0.25, 0])).all()
    moved = chain.change(*rounds, 1 - 1e-9)
    assert ((moved.low <= [0, -0.25, 0.25]) & (moved.high >= [0, -0.25, 0.25])).all()


def test_python_refuses_the_chains_and_memories_of_the_vectors(tmp_path):
    """The same as clients."""
    held = json.loads((CLIENTS / "vectors.json").read_text())
    for each in held["refused_chains"]:
        (tmp_path / "c.json").write_text(each["file"])
        with pytest.raises(FileError):
            local.Chain.from_json(tmp_path / "c.json")
    for each in held["chains"]:
        chain = make_client_vectors.CHAINS[each["name"]]
        for text in each["refused_memories"]:
            with pytest.raises(TinctError):
                chain.answer(chain.symbols[0], local.Memory.from_text(text))


def test_python_refuses_what_the_vectors_refuse(tmp_path):
    """The same forged files."""
    refused = json.loads((CLIENTS / "vectors.json").read_text())["refused"]
    assert None not in in_python([each["file"] for each in refused], tmp_path)


def test_a_large_subset_is_quick_and_short(tmp_path):
    """100,000 symbols, of which a report names a quarter: bits, and less than 60 ms of the processor's time."""
    write_mechanism(local.subset_selection(100_000, 1), tmp_path / "m.json")
    script = """
      const { read, report } = await import(process.argv[1]);
      const mechanism = read(require("fs").readFileSync(process.argv[2], "utf8"));
      report(mechanism, 0);
      const start = process.cpuUsage().user;
      for (let at = 0; at < 20; at++) report(mechanism, at);
      console.log((process.cpuUsage().user - start) / 20000, JSON.stringify(report(mechanism, 3)).length);
    """
    milliseconds, length = map(float, in_node(script, CLIENT, tmp_path / "m.json").split())
    assert milliseconds < 60
    assert length < 17_000


def test_the_package_has_what_it_names():
    """What npm would publish is there, and the types name exactly what the module exports."""
    package = json.loads((CLIENT.parent / "package.json").read_text())
    assert all((CLIENT.parent / name).is_file() for name in package["files"])
    assert set(package["files"]) == {path.name for path in CLIENT.parent.iterdir()} - {"package.json"}
    types = set(re.findall(r"^export function (\w+)", (CLIENT.parent / "tinct.d.ts").read_text(), re.MULTILINE))
    exported = in_node("console.log(Object.keys(await import(process.argv[1])).join())", CLIENT)
    assert types == set(exported.strip().split(","))


def test_what_is_accepted_is_private_by_the_definition(judged):
    """Every accepted change, written out: no report is more than e^ε times as likely for another symbol, but for δ."""
    accepted = {}
    for text, python, _ in judged:
        if python is None:
            fields = json.loads(text.removeprefix("\ufeff"))
            accepted[json.dumps([fields["randomiser"], fields["epsilon"], fields["delta"]])] = fields
    assert len(accepted) > 100
    for fields in accepted.values():
        growth, delta = barely_above_exp(fields["epsilon"]), Fraction(fields["delta"])
        for one, other in product(reports_of(fields), repeat=2):
            assert sum(one.values()) == 1
            assert sum(max(Fraction(0), p - growth * other.get(y, 0)) for y, p in one.items()) <= delta


def test_a_parsed_object_is_judged_like_its_text(judged):
    """Given as an object, a file is refused before its first report too, but for what JSON.parse has hidden."""
    hidden = ("given twice", "not written as a whole", "digits", "nested deeper", "surrogate", "too large", "not JSON")
    for text, _, (whole, object_check, report) in judged:
        if whole is None:
            assert text.startswith("\ufeff") or (object_check, report) == (None, None)
        elif object_check is None:
            assert any(part in whole for part in hidden), (whole, text)
        else:
            assert report == object_check


@pytest.mark.parametrize("name", [name for name in VALID if name != "cells, huge"])  # it has no unit left to give
def test_one_unit_more_than_the_budget_allows_is_refused(valid, name):
    """The most truthful units are in the file; one more for the truth and the client says what they allow."""
    fields = json.loads(valid[name])
    if fields["randomiser"]["kind"] == "table":
        rows = [[int(entry) for entry in row] for row in fields["randomiser"]["rows"]]
        rows[0][0] += min(rows[0][-1], N // 1000)
        rows[0][-1] -= min(rows[0][-1], N // 1000)
        forged = [_edited(fields, ("randomiser", "rows"), [[str(entry) for entry in row] for row in rows])]
    else:
        forged = list(_changed_units(fields))[:1]
    ((text, object_check, report),) = in_javascript(list(map(json.dumps, forged)))
    assert text == object_check == report
    assert re.search("not private: the file states [εδ] = .*, but .*(allow|need) ", text)


def test_the_client_says_what_the_units_allow_instead(valid):
    """The forgery that started it: nearly all units for the truth, and ε = 0.1 stated."""
    fields = json.loads(valid["cells, decimal"])
    forged = _with_units(fields, {"own": N - 2, "other": 1})
    assert in_javascript([json.dumps(forged)])[0][0].endswith(
        "not private: the file states ε = 0.1, but its units allow ε = 42.975125"
    )
    certain = _with_units(fields | {"randomiser": json.loads(valid["hadamard"])["randomiser"]}, {"plus": N})
    certain["randomiser"]["size"] = 3
    assert "any ε at all" in in_javascript([json.dumps(certain)])[0][0]


def test_what_was_verified_is_what_runs(valid):
    """A mechanism is verified once; what is done to the object afterwards changes neither units nor symbols."""
    script = """
      const { check, privatize } = await import(process.argv[1]);
      const mechanism = JSON.parse(require("fs").readFileSync(0, "utf8"));
      check(mechanism);
      mechanism.randomiser.own = String(2n ** 62n - 2n);
      mechanism.randomiser.other = "1";
      mechanism.randomiser.cell_of.reverse();
      mechanism.symbols.reverse();
      let same = 0;
      for (let at = 0; at < 2000; at++) same += privatize(mechanism, "a") === 0;
      console.log(same);
    """
    assert int(in_node(script, CLIENT, given=valid["cells, decimal"])) < 1000  # about 712 of 2000 by the honest units


def test_a_getter_cannot_show_one_number_and_run_another(valid):
    """Each field is read once, so an object that changes its mind is judged by what it runs."""
    script = """
      const { check } = await import(process.argv[1]);
      const mechanism = JSON.parse(require("fs").readFileSync(0, "utf8"));
      const asked = {};
      const watched = (inner) => new Proxy(inner, { get: (target, name) => {
        if (Object.hasOwn(target, name) && name !== "schema" && name !== "kind") asked[name] = (asked[name] ?? 0) + 1;
        return target[name];
      } });
      mechanism.randomiser = watched(mechanism.randomiser);
      check(watched(mechanism));
      console.log(Math.max(...Object.values(asked)), Object.keys(asked).includes("own"));
    """
    assert in_node(script, CLIENT, given=valid["cells, ln"]) == "1 true\n"


def test_a_limit_refuses_what_keeps_too_little(valid):
    """A device may state the most that it agrees to, in every way that an ε can be written; a δ only if it is named."""
    cases = [
        ("cells, ln", {"epsilon": "ln 3"}, True), ("cells, ln", {"epsilon": "1.0986122886681096"}, False),
        ("cells, ln", {"epsilon": "1.0986122886681097"}, True), ("cells, ln", {"epsilon": "ln 2.999"}, False),
        ("cells, decimal", {"epsilon": "1/10"}, True), ("cells, decimal", {"epsilon": "0.0999"}, False),
        ("cells, decimal", {"epsilon": "ln 1.105"}, False), ("cells, decimal", {"epsilon": "ln 1.106"}, True),
        ("table, delta", {"epsilon": "1"}, False), ("table, delta", {"epsilon": "1", "delta": "0.05"}, True),
        ("table, delta", {"epsilon": "1", "delta": "0.04"}, False), ("cells, ln", {}, False),
        ("cells, ln", {"epsilon": 2}, False),
    ]  # fmt: skip
    script = """
      const { read } = await import(process.argv[1]);
      const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
      const fine = ([text, most]) => { try { read(text, most); return true; } catch { return false; } };
      console.log(JSON.stringify(cases.map(fine)));
    """
    given = json.dumps([(valid[name], most) for name, most, _ in cases])
    assert json.loads(in_node(script, CLIENT, given=given)) == [fine for _, _, fine in cases]


def test_symbols_that_javascript_cannot_tell_apart_are_refused(valid, tmp_path):
    """Whole numbers beyond 2^53 are one number there: the only files that tinct reads and the client does not."""
    fields = json.loads(valid["cells, decimal"])
    text = json.dumps({**fields, "symbols": [2**60, 2**60 + 1, "c"]})
    assert in_python([text], tmp_path) == [None]
    assert "beyond 2^53" in in_javascript([text])[0][0]


def test_verification_is_quick_and_done_once(tmp_path):
    """For 100,000 symbols all checks take less than a second of the processor's time, and a hundred reports no more."""
    for mechanism in (local.randomized_response(100_000, 1), local.hadamard_response(100_000, "ln 3"),
                      local.subset_selection(100_000, 9), local.local_hashing(100_000, 1)):  # fmt: skip
        write_mechanism(mechanism, tmp_path / "m.json")
        script = """
          const { read, privatize } = await import(process.argv[1]);
          const text = require("fs").readFileSync(process.argv[2], "utf8");
          const spent = () => process.cpuUsage().user / 1000;
          const start = spent();
          const mechanism = read(text);
          const middle = spent();
          for (let at = 0; at < 100; at++) privatize(mechanism, at);
          console.log(middle - start, spent() - middle);
        """
        first, further = map(float, in_node(script, CLIENT, tmp_path / "m.json").split())
        assert first < 1000
        assert further < 1000
