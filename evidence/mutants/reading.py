"""Mutants of how cells are read: what a description means, who may say so, and what goes into one."""

from __future__ import annotations

from evidence.mutants import Mutant


def _described(test: str) -> tuple[str, ...]:
    return (f"test_description.py::{test}",)


_OWNERS = _described("test_only_the_owners_description_is_answered")
_REFUSED = _described("test_what_does_not_fit_the_description_is_refused_before_a_row_is_read")
_ENTER = _described("test_enter_accepts_what_is_proposed_and_nobodys_own_value")
_WEB = _described("test_metadata_of_csv_on_the_web_is_a_draft")
_DELIMITER = _described("test_another_delimiter_makes_no_rows_of_a_quoted_cell")
_WHOLE_ANSWER = ("test_several_groups.py::test_the_whole_answer_has_the_privacy_that_is_charged",)

MUTANTS = (
    Mutant(
        "what an engine takes for a number is one",
        "_number_case",
        "sql.matches(text, number_pattern(written))",
        "'true'",
        _described("test_cells_are_read_as_the_twin_reads_them"),
    ),
    Mutant(
        "the mark between thousands stays where it is",
        "_number_case",
        "... if written.thousands else text",
        "text",
        _described("test_real_files_are_read_right"),
    ),
    Mutant(
        "a number above its range is read",
        "cell_rules._checked_number",
        "described.most is not None",
        "False",
        _described("test_real_files_are_read_right"),
    ),
    Mutant(
        "a mark that is a number is a value where a column is read as numbers",
        "marked_numbers",
        "numbers_among(written.missing, written)",
        "[]",
        _described("test_real_files_are_read_right"),
    ),
    Mutant(
        "a code written 1.0 is nothing",
        "has_codes",
        "any(re.fullmatch(WHOLE_CODE, word) for word in words)",
        "False",
        _described("test_real_files_are_read_right"),
    ),
    Mutant(
        "a number of Python's own is written with a point",
        "typed_cells._number",
        '(repr(value) if isinstance(value, float) else str(value)).replace(".", decimal)',
        "repr(value) if isinstance(value, float) else str(value)",
        _described("test_values_of_their_own_type_are_read_as_what_they_are"),
    ),
    Mutant(
        "one cell that cannot be written ends the count",
        "object_text.guarded",
        "return None",
        "raise",
        _described("test_values_of_their_own_type_are_read_as_what_they_are"),
    ),
    Mutant(
        "a draft is as good as a description",
        "Description.require_confirmed",
        "not self.confirmed",
        "False",
        _described("test_a_draft_cannot_be_used"),
    ),
    Mutant(
        "a column that is not for asking is asked about",
        "Schema._require_askable",
        "described is None or not described.ask",
        "described is None",
        _REFUSED,
    ),
    Mutant(
        "a misspelt category is one that nobody is in",
        "compared_as",
        "values and value not in values",
        "False",
        _REFUSED,
    ),
    Mutant(
        "any description will do",
        "Protection",
        "self.description is not None and asked.description != self.description",
        "False",
        _OWNERS,
    ),
    Mutant(
        "a description that the owner declared may be left out",
        "described_as",
        "owner is not None and owner.description is not None and found is None",
        "False",
        _OWNERS,
    ),
    Mutant(
        "how cells were read is no part of a request",
        "asking._ask",
        "ready if source.description is None else replace(ready, reading=source.description.digest)",
        "ready",
        _described("test_the_same_question_read_in_another_way_is_another_request"),
    ),
    Mutant(
        "a whole file may be its first line",
        "_keeps_lines",
        "not getattr(found, '_is_text_encoding', True) or found.name.startswith(_UNFIT)",
        "not getattr(found, '_is_text_encoding', True)",
        _described("test_no_encoding_makes_names_of_rows"),
    ),
    Mutant(
        "letters of any encoding may be quotes",
        "_keeps_lines",
        "all(...)",
        "True",
        _described("test_no_encoding_makes_names_of_rows"),
    ),
    Mutant(
        "a delimiter that is not in the first line is believed",
        "text_files.header",
        "delimiter not in bare and any(each in bare for each in DELIMITERS)",
        "False",
        _DELIMITER,
    ),
    Mutant(
        "an asker says what stands between two cells",
        "described_as",
        "named or description is not None",
        "False",
        _DELIMITER,
    ),
    Mutant(
        "a draft has what was found, whether accepted or not",
        "Draft.accepting",
        "known[name] if name in columns else kind",
        "known[name]",
        _described("test_a_draft_has_names_and_kinds_and_what_the_owner_accepts"),
    ),
    Mutant(
        "Enter accepts the largest number in the data",
        "rounded",
        "_above(most) if most > 0 else 0.0",
        "most",
        _ENTER,
    ),
    Mutant("Enter accepts a category of one", "Finding.frequent", "many >= least", "True", _ENTER),
    Mutant(
        "any two letters are yes and no",
        "_pair",
        "(yes, no) if not alone or met in _LETTERS else None",
        "(yes, no)",
        _described("test_letters_for_anything_are_no_yes_and_no"),
    ),
    Mutant(
        "an import is confirmed",
        "_Metadata.description",
        "Description(columns, written, confirmed=False)",
        "Description(columns, written)",
        _WEB,
    ),
    Mutant(
        "numbers with other marks than the rest are read like the rest",
        "_Metadata._format",
        "own not in (None, marks)",
        "False",
        _WEB,
    ),
    Mutant(
        "a person in several groups spends the whole budget in each",
        "Groups.of",
        "each > 1",
        "False",
        _WHOLE_ANSWER,
    ),
    Mutant(
        "δ is not divided among the groups of a person",
        "Groups.of",
        "privacy.exact_delta / each",
        "privacy.exact_delta",
        _WHOLE_ANSWER,
    ),
    Mutant(
        "a person counts in one group more than they may",
        "Statement._persons",
        'f"SELECT label, class FROM ({placed}) AS placed WHERE place <= {self.plan.per_person}"',
        'f"SELECT label, class FROM ({placed}) AS placed WHERE place <= {self.plan.per_person + 1}"',
        ("test_several_groups.py::test_a_person_counts_in_the_first_groups",),
    ),
)
