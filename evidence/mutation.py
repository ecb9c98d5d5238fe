"""The part ``mutants``: every mutant must be killed, and the untouched copy must not be."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evidence import results
from evidence.mutants import catalogue
from evidence.mutants.running import SOURCE, Outcome, attempt_all, fingerprint, selections, workshop
from evidence.mutants.syntax import Package

PART = "mutants"


def run() -> dict[str, Any]:
    """Try all mutants, except those that were killed before and of which nothing has changed that a kill depends on."""
    mutants = catalogue()
    known = {found["name"]: found for found in (results.load(PART) or {}).get("outcomes", [])}
    package = Package.of(SOURCE)
    prints = {mutant.name: fingerprint(mutant, package) for mutant in mutants}
    outcomes = {
        name: found
        for name, found in known.items()
        if found["killed"] and found["fingerprint"] == prints.get(name)
    }  # fmt: skip
    print(f"{len(mutants)} mutants, {len(outcomes)} of them killed before and unchanged")

    def done(outcome: Outcome) -> None:
        outcomes[outcome.name] = asdict(outcome)
        fate = "killed" if outcome.killed else "SURVIVED"
        print(f"{fate:8} {outcome.seconds:6.1f} s  {outcome.file}: {outcome.name}")
        _save(outcomes, len(mutants), clean=None)

    attempt_all([mutant for mutant in mutants if mutant.name not in outcomes], done)
    with workshop() as copy:
        code, output = copy.run(selections(mutants))
    print(f"the untouched copy: {output.strip().splitlines()[-1]}")
    return _save(outcomes, len(mutants), clean=code == 0)


def _save(outcomes: dict[str, Any], count: int, *, clean: bool | None) -> dict[str, Any]:
    order = {mutant.name: at for at, mutant in enumerate(catalogue())}
    listed = sorted(outcomes.values(), key=lambda found: order[found["name"]])
    killed = sum(found["killed"] for found in listed)
    passed = bool(clean) and killed == count
    return results.save(PART, passed=passed, count=count, killed=killed, original_passes=clean, outcomes=listed)
