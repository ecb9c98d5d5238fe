"""``tools/check_certificate.py`` as a module, and certificates written by hand for it and for the library."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

TOOL = Path(__file__).parent.parent / "tools" / "check_certificate.py"


def load():
    """The independent checker; it is a script, and no part of a package."""
    spec = importlib.util.spec_from_file_location("check_certificate", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tool_accepts(tool, path):
    """Whether the independent checker finds the file private."""
    try:
        return tool.check(path).startswith("PRIVATE")
    except (SystemExit, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return False


def spelled(fields):
    """The fields as a certificate is written."""
    lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}" for k, v in fields.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def signed(fields):
    """The whole file, with the digest that belongs to it."""
    content = {name: value for name, value in fields.items() if name != "digest"}
    digest = hashlib.sha256(spelled(content).encode("utf-8", "surrogatepass")).hexdigest()
    return spelled({**content, "digest": digest})
