"""Text on disk; what the text means is the business of the rooms above."""

from tinct._files._strict_json import json_text, strict_json
from tinct._files.loading import (
    MAX_BYTES,
    FilePath,
    naming,
    read_bytes,
    read_text,
    reading,
    suffix_of,
)
from tinct._files.saving import sync_folder, write_atomically
from tinct._files.strict_csv import (
    DELIMITERS,
    guard_cell,
    is_number,
    number,
    read_sheet,
    unguard_cell,
    write_sheet,
)

__all__ = [
    "DELIMITERS",
    "MAX_BYTES",
    "FilePath",
    "guard_cell",
    "is_number",
    "json_text",
    "naming",
    "number",
    "read_bytes",
    "read_sheet",
    "read_text",
    "reading",
    "strict_json",
    "suffix_of",
    "sync_folder",
    "unguard_cell",
    "write_atomically",
    "write_sheet",
]
