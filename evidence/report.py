"""The report: one row for every claim, with the numbers that the parts have saved."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evidence import figures, results
from evidence.suites import SUITES
from tinct._files import write_atomically

_AUDIT_FIGURES = ("images/evidence-audit.svg", "images/evidence-audit-dark.svg")
PAGE = Path(__file__).parents[1] / "docs" / "evidence.md"

# what must never happen, what keeps it out, and the part that shows it
_CLAIMS = (
    ("Rounding lifts a ratio above e^ε", "integer tables, certified on every edge, exactly", "certification"),
    ("A probability is 0 on one side only, or a unit too large", "the certificate refuses it", "tampering"),
    (
        "The sampler samples something else than the table",
        "one uniform integer, bisected in integer prefix sums",
        "enumeration",
    ),
    ("Released answers do not follow the table", "goodness-of-fit of every row, through every path", "audit"),
    ("NaN, infinities and nonsense are accepted", "contracts that NaN fails", "inputs"),
    ("A seeded generator in the release path", "only `exact/sampler` touches entropy", "entropy"),
    ("A linear program's table is used raw", "repaired onto the grid and certified, or refused", "programs"),
    (
        "Secrets in errors, logs, representations, commands, ledger",
        "nothing that is said repeats a cell or a count",
        "canary",
    ),
    ("This very answer's confidence is printed", "only public tables by margin are shown", "public"),
    (
        "Anything but the answer tells two neighbours apart, or the answer tells too much",
        "charged first; nothing but a certified table looks at the counts; a cell that cannot be read is missing",
        "neighbours",
    ),
    ("Two programs spend the same budget", "checked and charged in one transaction, before a row is read", "races"),
    (
        "An answer is drawn but not charged, or shown but not recorded; a ledger is corrupt",
        "charge, count, draw, store, show, in this order; write-ahead log, synchronous=FULL",
        "crashes",
    ),
    ("A retry re-rolls the dice", "same request and digest: the stored answer", "retries"),
    ("A stored “verified: true” is believed", "loading proves everything again", "files"),
    (
        "A file proves nothing, and a checker is content with it",
        "one written format; the library and a checker without it accept the same files",
        "checkers",
    ),
    (
        "A small file hangs the reader or fills the memory",
        "sizes, digits and nesting are limited before parsing",
        "fuzzing",
    ),
    ("The same, looked for along the branches of the code", "coverage-guided fuzzing with atheris", "guided"),
    ("A page on the web drives the local app", "loopback, token, Host list, POST only", "web"),
    ("CSV cells run as formulas", "neutralised on export", "cells"),
    ("The reported ε or δ is not the tight one", "agrees with dp_accounting's bounds", "accounting"),
    ("The tests themselves notice nothing", "wrong edits of the privacy-critical modules are all noticed", "mutants"),
)


def write() -> None:
    """Write ``docs/evidence.md`` from the saved results."""
    found = {part: results.load(part) for _, _, part in _CLAIMS}
    if found["audit"] is not None:
        for name in _AUDIT_FIGURES:
            figures.draw_audit(found["audit"], PAGE.parent / name, dark="dark" in name)
    lines = [
        "# Evidence",
        "",
        "What must never happen in a privacy library, and how it is shown that it does not. This page is written by",
        "`python -m evidence`; the numbers are those of the last run of each part, on the date in its row.",
        "`make evidence` runs everything in full, `make test` a shorter version of the same. To run one part:",
        "`python -m evidence PART`.",
        "",
        f"Written on {datetime.now(UTC):%d %B %Y}.",
        "",
        "| what must not happen | what keeps it out | what was done | result | part | date |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_row(claim, check, part, found[part]) for claim, check, part in _CLAIMS),
        "",
        *_details(found),
    ]
    write_atomically(PAGE, "\n".join(lines).rstrip() + "\n")
    print(f"written: {PAGE.relative_to(Path.cwd()) if PAGE.is_relative_to(Path.cwd()) else PAGE}")


def _row(claim: str, check: str, part: str, found: dict[str, Any] | None) -> str:
    if found is None:
        return f"| {claim} | {check} | not run yet | — | `{part}` | — |"
    done, outcome = _numbers(part, found)
    verdict = "**passed**" if found["passed"] else "**not passed**"
    return f"| {claim} | {check} | {done} | {verdict}: {outcome} | `{part}` | {found['when'][:10]} |"


def _numbers(part: str, found: dict[str, Any]) -> tuple[str, str]:
    """What was done, with its count, and what came of it."""
    if "note" in found:
        return found.get("count", "—"), found["note"]
    if part == "mutants":
        return f"{found['count']} mutants, and the untouched copy", f"{found['killed']} killed"
    if part in ("fuzzing", "guided"):
        limits = (
            f", ≤ {found['seconds_allowed']:g} s and ≤ {found['megabytes_allowed']} MB each"
            if part == "fuzzing"
            else ""
        )
        return f"{found['inputs']:,} inputs to {len(found['targets'])} parsers{limits}", f"{found['faults']} faults"
    if part == "canary":
        return (
            f"{found['errors']} forced errors, {found['searched']:,} texts searched",
            f"{len(found['found'])} canaries found",
        )
    if part == "audit":
        draws, rows = (sum(path[what] for path in found["paths"].values()) for what in ("draws", "rows"))
        least = min(path["least"] / path["threshold"] for path in found["paths"].values())
        done = (
            f"{draws:,} draws on {len(found['paths'])} paths, {rows} rows; false alarms {found['false_alarm']:g} a path"
        )
        return done, f"smallest p-value {least:,.0f} times the limit; a wrong table is noticed"
    if part == "neighbours":
        controls = found["controls"].values()
        noticed = sum(after is not None for after in controls)
        done = f"{found['pairs']:,} pairs of neighbouring data sets, {len(controls)} fixes taken out"
        return done, f"{found['faults']} pairs told apart; {noticed} of {len(controls)} noticed"
    if part == "accounting":
        return (
            f"{found['tables']:,} random tables, {found['comparisons']:,} numbers",
            f"{found['outside']} outside the bounds",
        )
    tests = ", ".join(f"{number:,} test{'s' * (number > 1)} {word}" for word, number in found["tests"].items())
    return next(suite.count for suite in SUITES if suite.name == part), tests


def _details(found: dict[str, Any]) -> list[str]:
    lines = []
    for title, part, describe in (
        ("Statistical audit", "audit", _audit),
        ("Fuzzing", "fuzzing", _fuzzing),
        ("Neighbours", "neighbours", _neighbours),
        ("Cross-check with dp_accounting", "accounting", _accounting),
        ("Mutants", "mutants", _mutants),
    ):
        if found[part] is not None:
            lines += [f"## {title}", "", *describe(found[part]), ""]
    return [
        *lines,
        "## Commands of the parts that are tests",
        "",
        "| part | command |",
        "| --- | --- |",
        *(f"| {suite.name} | `{suite.command}` |" for suite in SUITES),
    ]


def _audit(found: dict[str, Any]) -> list[str]:
    return [
        "Each row of a table is compared with the answers drawn from it by a likelihood-ratio (G) test, with rare",
        "answers pooled.",
        f"A correct sampler fails a path with probability {found['false_alarm']:g}, shared equally among its rows.",
        f"As a control, a table that is off by {found['control_error']:.2g} at 1/2 was held against true releases:",
        f"it was {'noticed' if found['control_noticed'] else 'NOT noticed'}. Draws one at a time are fewer.",
        "",
        f"![The p-values of all rows lie along the diagonal]({_AUDIT_FIGURES[0]}#only-light)",
        f"![The p-values of all rows lie along the diagonal]({_AUDIT_FIGURES[1]}#only-dark)",
        "",
        "| path | draws | rows | least p-value | limit |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {name} | {path['draws']:,} | {path['rows']} | {path['least']:.2g} | {path['threshold']:.1g} |"
            for name, path in found["paths"].items()
        ),
    ]


def _fuzzing(found: dict[str, Any]) -> list[str]:
    return [
        "Valid files are flipped, cut, spliced and filled with nasty tokens. Only errors of `tinct.errors` may come",
        "out. Time is the processor's; memory is what a process may take beyond what it has after reading valid files",
        "(`RLIMIT_AS`).",
        "",
        "| parser | inputs | read | refused | faults | slowest | memory |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {name} | {one['inputs']:,} | {one['read']:,} | {one['refused']:,} | {len(one['faults'])} | "
            f"{one['slowest']:.3f} s | +{one['memory']} MB |"
            for name, one in found["targets"].items()
        ),
    ]


def _neighbours(found: dict[str, Any]) -> list[str]:
    words = {
        "asked": "relation asked for",
        "relation": "relation declared",
        "budgets": "ε",
        "view": "looked at through",
    }
    return [
        f"Random pairs of neighbours (seed `{found['seed']}`, {found['seconds']:,} s): one person, with all rows, is",
        "added, removed or replaced, and brings values that readers stumble over. The distributions of the answers are",
        "compared exactly, in fractions, with what the owner declared; with the answer forced, all else that can",
        "be seen has to be the same: errors, plans, output, files and their sizes, every row of the ledger.",
        "",
        "| by | pairs |",
        "| --- | --- |",
        *(
            f"| {words.get(trait, trait)} | {', '.join(f'{value}: {count:,}' for value, count in values.items())} |"
            for trait, values in found["counts"].items()
        ),
        "",
        "As a control, fixes were taken out of a copy of the library:",
        "",
        "| taken out | noticed after |",
        "| --- | ---: |",
        *(
            f"| {name} | {'**not noticed**' if after is None else f'{after:,} pairs'} |"
            for name, after in found["controls"].items()
        ),
        *(
            f"\nPair {one['index']} of seed `{one['seed']}`: {one['law']}."  # in full in evidence/results
            for one in found["violations"]
        ),
    ]


def _accounting(found: dict[str, Any]) -> list[str]:
    return [
        "Random pairs of rows with 2 to 6 answers, zeros among them, in both directions: `verify`'s profile, least δ",
        "and least ε "
        f"lie between dp_accounting's optimistic and pessimistic bounds (at most {found['widest']:.2g} apart) up to "
        f"{found['slack']:g}.",
    ]


def _mutants(found: dict[str, Any]) -> list[str]:
    return [
        "Each line is a wrong edit made by hand, applied to a copy of the package; the test named failed first.",
        "",
        "| module | edit | noticed by |",
        "| --- | --- | --- |",
        *(f"| `{one['file']}` | {one['name']} | {_by(one)} |" for one in found["outcomes"]),
    ]


def _by(outcome: dict[str, Any]) -> str:
    if not outcome["killed"]:
        return "**nothing**"
    return f"`{outcome['by'].split('::')[-1].partition('[')[0]}`"
