"""Parts that are tests of the library itself, run at their full counts (``TINCT_EVIDENCE=1``)."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evidence import results

ROOT = Path(__file__).parents[1]
_LAST = re.compile(r"(\d+) (passed|failed|error|errors|skipped)")


@dataclass(frozen=True)
class Suite:
    """Some tests, and what they count when they run in full."""

    name: str
    tests: tuple[str, ...]
    count: str

    @property
    def command(self) -> str:
        """How to run it by hand."""
        return f"TINCT_EVIDENCE=1 python -m pytest {shlex.join(self.tests)}"


_CERTIFICATE, _CHECKERS, _SAMPLER, _EXACT, _LEDGER, _STUDIO = (
    "tests/test_certificate.py", "tests/test_checkers.py", "tests/test_sampler.py", "tests/test_exact.py",
    "tests/test_ledger.py", "tests/test_studio.py",
)  # fmt: skip

SUITES = (
    Suite(
        "certification",
        (f"{_CERTIFICATE}::test_the_proof_agrees_with_the_definition_of_privacy",),
        "10,000 random tables, 500 of them also through a file and an independent checker",
    ),
    Suite(
        "tampering",
        (f"{_CERTIFICATE}::test_one_unit_more_truth_outside_the_fixed_set_is_rejected",),
        "10,000 tight tables, each with one unit of truth too many at every free vertex",
    ),
    Suite(
        "enumeration",
        (
            f"{_SAMPLER}::test_every_draw_lands_where_the_table_says",
            f"{_SAMPLER}::test_rejection_is_uniform_for_every_bound",
        ),
        "200 tables with N ≤ 65,536 over every draw; every bound up to 4,096 over every byte string",
    ),
    Suite(
        "entropy",
        (
            f"{_SAMPLER}::test_only_the_sampler_touches_entropy",
            f"{_SAMPLER}::test_the_search_for_entropy_finds_it",
            f"{_SAMPLER}::test_without_entropy_there_is_no_answer",
        ),
        "every module of the library, by its syntax tree",
    ),
    Suite(
        "programs",
        (
            f"{_EXACT}::test_random_programs_are_mended_or_refused",
            f"{_EXACT}::test_raw_tables_of_linear_programs_are_mended",
        ),
        "250 random linear programs and the 100-voter majority, raw from the solver",
    ),
    Suite(
        "files",
        (
            f"{_CERTIFICATE}::test_no_byte_can_be_changed",
            f"{_CERTIFICATE}::test_no_edit_with_its_digest_recomputed_gets_past_the_proof",
            f"{_CERTIFICATE}::test_a_wrong_type_anywhere_is_a_file_error",
            f"{_CERTIFICATE}::test_other_spellings_are_refused",
        ),
        "more than 500 files with a byte changed, and every field replaced by every type with a matching digest",
    ),
    Suite(
        "checkers",
        (f"{_CHECKERS}::test_both_checkers_accept_the_same_files",),
        "14,400 edited certificates, 1,200 of each of 12 kinds, digests recomputed: two checkers, one verdict",
    ),
    Suite("races", (f"{_LEDGER}::test_races_grant_the_budget_exactly",), "200 races of 8 processes"),
    Suite(
        "crashes",
        (f"{_LEDGER}::test_attacks_find_nothing", f"{_LEDGER}::test_the_attacks_notice_a_wrong_order"),
        "500 SIGKILLs, 700 failing disk calls, 300 failing statements, 200 power cuts; wrong orders are noticed",
    ),
    Suite(
        "retries",
        (
            f"{_LEDGER}::test_a_request_is_drawn_once_and_charged_once",
            f"{_LEDGER}::test_any_change_under_the_same_id_is_refused",
        ),
        "random sequences of requests, and every single change to a repeated one",
    ),
    Suite(
        "inputs",
        ("tests", "-k", "bad or refused or nan"),
        "all tests of bad input: NaN, infinities, negative, empty, wrong type and huge, parameter by parameter",
    ),
    Suite(
        "public",
        (
            "tests/test_asking.py::test_no_output_depends_on_the_data_but_the_answer",
            "tests/test_asking.py::test_the_command_says_nothing_secret",
        ),
        "answers and commands on datasets that differ",
    ),
    Suite(
        "cells",
        ("tests/test_files.py::test_formulas_are_guarded", "tests/test_files.py::test_guards_come_off_again"),
        "a table of formulas, and random cells there and back",
    ),
    Suite(
        "web",
        (
            f"{_STUDIO}::test_hostile_requests_are_refused_and_nothing_is_charged",
            f"{_STUDIO}::test_what_is_not_http_gets_no_page",
            f"{_STUDIO}::test_a_studio_listens_on_this_machine_only",
            f"{_STUDIO}::test_tokens_differ_from_studio_to_studio",
            f"{_STUDIO}::test_a_bug_is_answered_without_details",
        ),
        "more than 40 hostile requests, 8 kinds of bytes that are no request",
    ),
)


def run(suite: Suite) -> dict[str, Any]:
    """Run a suite in full and save how many tests passed."""
    if not (ROOT / suite.tests[0].split("::")[0]).exists():
        return results.save(suite.name, passed=False, note="these tests are not there yet", count=suite.count)
    started = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *suite.tests]
    done = subprocess.run(  # noqa: S603 # our own tests
        command, cwd=ROOT, env={**os.environ, "TINCT_EVIDENCE": "1"}, capture_output=True, text=True, check=False
    )
    tail = done.stdout.strip().splitlines()[-1:] or [""]
    tests = {word: int(number) for number, word in _LAST.findall(tail[0])}
    seconds = round(time.monotonic() - started)
    print(f"— {suite.name}: {tail[0]}", flush=True)
    failure = "" if done.returncode == 0 else done.stdout[-3000:]
    return results.save(
        suite.name, passed=done.returncode == 0, tests=tests, seconds=seconds, count=suite.count, failure=failure
    )
