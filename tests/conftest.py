"""How all tests run, and what several of them share.

Hypothesis draws the same examples every time and never fails for being slow.
"""

import pytest
from hypothesis import settings

settings.register_profile("tinct", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("tinct")


@pytest.fixture(scope="session")
def tool():
    """The independent checker of certificates as a module."""
    from independent_checker import load

    return load()


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server of our own."""
    pytest.importorskip("psycopg")
    from ledger_harness import Server

    with Server() as running:
        yield running


@pytest.fixture
def database(server, request):
    """The address of a new database on it."""
    name = f"db{abs(hash(request.node.nodeid)) % 10**9}"
    server.run(f"CREATE DATABASE {name}")
    return server.url(name)
