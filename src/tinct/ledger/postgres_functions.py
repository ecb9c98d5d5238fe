"""Charging and answering in PostgreSQL: two functions of the owner, so that nobody who asks needs to write a table.

They run with the owner's rights and accept only what adds up: a total never falls, a charge raises every total that it
has to, numbers follow one another, and an answer is stored once, in the room reserved for it. Every name in them is
``pg_catalog``'s or qualified, so nothing that somebody else creates can stand in for it.
"""

from __future__ import annotations

from typing import Any

REFUSED = "TINCT"  # the SQLSTATE of a charge or an answer that does not add up

# total ≥ one + other, each amount by itself, with exact rationals: numeric multiplies and adds without rounding
_COVERS = """
DECLARE
  name text;
  vector jsonb;
  amount jsonb;
  written text;
  p numeric[];
  q numeric[];
BEGIN
  FOR name IN
    SELECT jsonb_object_keys(total) UNION SELECT jsonb_object_keys(one) UNION SELECT jsonb_object_keys(other)
  LOOP
    p := '{}';
    q := '{}';
    FOREACH vector IN ARRAY ARRAY[total, one, other] LOOP
      amount := coalesce(vector -> name, '"0"');
      written := amount #>> '{}';
      IF jsonb_typeof(amount) <> 'string' OR length(written) > 2000
        OR written !~ '^([0-9]+/0*[1-9][0-9]*|[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]{1,3})?)$'
      THEN
        RAISE EXCEPTION 'an amount cannot be read' USING ERRCODE = 'TINCT';
      END IF;
      p := p || split_part(written, '/', 1)::numeric;
      q := q || CASE WHEN strpos(written, '/') > 0 THEN split_part(written, '/', 2)::numeric ELSE 1::numeric END;
    END LOOP;
    IF p[1] * q[2] * q[3] < (p[2] * q[3] + p[3] * q[2]) * q[1] THEN
      RETURN false;
    END IF;
  END LOOP;
  RETURN true;
END
"""

# the new totals come as JSON, [[group, used, checksum], ...]; group '' has the most of any group, or everybody's sum
_CHARGE = """
DECLARE
  head {schema}.tinct_ledger;
  groups jsonb := p_groups;
  cost jsonb := p_cost;
  total jsonb;
  name text;
  peak jsonb;
  before jsonb;
  new_seal text;
BEGIN
  SELECT * INTO STRICT head FROM {schema}.tinct_ledger WHERE id = 1 FOR UPDATE;
  IF head.schema_version <> 2 OR p_number IS DISTINCT FROM head.entries + 1 THEN
    RAISE EXCEPTION 'somebody else has charged' USING ERRCODE = 'TINCT';
  END IF;
  IF cost ->> 'epsilon' IS DISTINCT FROM p_epsilon OR cost ->> 'delta' IS DISTINCT FROM p_delta
    OR NOT {schema}.tinct_covers(cost, jsonb_build_object('epsilon', p_epsilon, 'delta', p_delta), '{}')
  THEN
    RAISE EXCEPTION 'the cost is another one' USING ERRCODE = 'TINCT';
  END IF;
  IF p_room IS NULL OR p_room < 1 OR p_room > 268435456 THEN
    RAISE EXCEPTION 'the room is too small or too large' USING ERRCODE = 'TINCT';
  END IF;
  IF (p_partition = '') IS DISTINCT FROM (jsonb_array_length(groups) = 0) OR groups @> '[""]' OR EXISTS (
    SELECT FROM jsonb_array_elements(groups) AS one (value) WHERE jsonb_typeof(value) <> 'string'
  ) THEN
    RAISE EXCEPTION 'the groups do not fit the partition' USING ERRCODE = 'TINCT';
  END IF;
  IF p_partition <> '' AND NOT EXISTS (
    SELECT FROM {schema}.tinct_partitions AS known WHERE known.scope = p_scope AND known.name = p_partition
  ) THEN
    RAISE EXCEPTION 'the partition is not declared' USING ERRCODE = 'TINCT';
  END IF;
  IF (
    SELECT array_agg(value ->> 0 ORDER BY (value ->> 0) COLLATE "C")
      FROM jsonb_array_elements(p_totals::jsonb) AS one (value)
  ) IS DISTINCT FROM (
    SELECT array_agg(value ORDER BY value COLLATE "C")
      FROM jsonb_array_elements_text('[""]' || groups) AS one (value)
  ) THEN
    RAISE EXCEPTION 'the totals are not those of the groups' USING ERRCODE = 'TINCT';
  END IF;
  SELECT (value ->> 1)::jsonb INTO STRICT peak
    FROM jsonb_array_elements(p_totals::jsonb) AS one (value) WHERE value ->> 0 = '';
  FOR total IN SELECT value FROM jsonb_array_elements(p_totals::jsonb) AS one (value) LOOP
    name := total ->> 0;
    SELECT known.used INTO before FROM {schema}.tinct_totals AS known
      WHERE known.scope = p_scope AND known.partition_name = p_partition AND known.group_name = name;
    before := coalesce(before, '{}');
    IF NOT {schema}.tinct_covers(
      (total ->> 1)::jsonb, before, CASE WHEN name = '' AND p_partition <> '' THEN '{}' ELSE cost END
    ) OR NOT {schema}.tinct_covers(peak, (total ->> 1)::jsonb, '{}') THEN
      RAISE EXCEPTION 'the totals do not cover the cost' USING ERRCODE = 'TINCT';
    END IF;
    INSERT INTO {schema}.tinct_totals AS known VALUES (p_scope, p_partition, name, total ->> 1, total ->> 2)
      ON CONFLICT (scope, partition_name, group_name)
      DO UPDATE SET used = excluded.used, checksum = excluded.checksum;
  END LOOP;
  INSERT INTO {schema}.tinct_entries VALUES (
    p_number, p_request, p_digest, p_made, p_who, p_question, p_scope, p_partition, p_groups, p_epsilon, p_delta,
    p_cost, p_room, p_checksum
  );
  INSERT INTO {schema}.tinct_rooms VALUES (p_number, repeat(chr(1), p_room));
  SELECT encode(sha256(convert_to('[[' || coalesce(
    string_agg('"' || known.checksum || '"', ',' ORDER BY known.checksum COLLATE "C"), '') || ']]', 'UTF8')), 'hex')
    INTO new_seal FROM {schema}.tinct_totals AS known WHERE known.group_name = '';
  UPDATE {schema}.tinct_ledger SET entries = p_number, seal = new_seal, checksum =
    encode(sha256(convert_to('[2,' || p_number::text || ',"' || new_seal || '"]', 'UTF8')), 'hex') WHERE id = 1;
END
"""

_ANSWER = """
BEGIN
  IF p_state NOT IN ('a', 'l') OR octet_length(p_answer) IS DISTINCT FROM (
    SELECT known.room FROM {schema}.tinct_entries AS known WHERE known.number = p_number
  ) THEN
    RAISE EXCEPTION 'the answer does not fill its room' USING ERRCODE = 'TINCT';
  END IF;
  DELETE FROM {schema}.tinct_rooms WHERE number = p_number;
  INSERT INTO {schema}.tinct_answers VALUES (p_number, p_state, p_answer, p_checksum);
END
"""

_SIGNATURES = {
    "tinct_covers": ("total jsonb, one jsonb, other jsonb", "boolean", "IMMUTABLE", _COVERS),
    "tinct_charge": (
        "p_number integer, p_request text, p_digest text, p_made text, p_who text, p_question text, p_scope text,"
        " p_partition text, p_groups text, p_epsilon text, p_delta text, p_cost text, p_room integer, p_checksum text,"
        " p_totals text",
        "void",
        "VOLATILE SECURITY DEFINER",
        _CHARGE,
    ),
    "tinct_answer": (
        "p_number integer, p_state text, p_answer text, p_checksum text",
        "void",
        "VOLATILE SECURITY DEFINER",
        _ANSWER,
    ),
}
_TYPES = {"boolean": 16, "integer": 23, "text": 25, "void": 2278, "jsonb": 3802}
_SETTING = "search_path=pg_catalog, pg_temp"
NAMES = tuple(_SIGNATURES)
CALLED = {name: _SIGNATURES[name][0].count(",") + 1 for name in ("tinct_charge", "tinct_answer")}
CALLS = {name: f"SELECT {name}({', '.join('?' * count)})" for name, count in CALLED.items()}


def statements(schema: str) -> tuple[str, ...]:
    """What makes the functions in a schema, whose name comes quoted; nobody but the owner may call them yet."""
    made = [
        f"CREATE FUNCTION {schema}.{name}({arguments}) RETURNS {result} LANGUAGE plpgsql {kind}"
        f" SET search_path = pg_catalog, pg_temp AS $tinct${_source(schema, source)}$tinct$"
        for name, (arguments, result, kind, source) in _SIGNATURES.items()
    ]
    closed = [f"REVOKE ALL ON FUNCTION {schema}.{name} FROM PUBLIC" for name in NAMES]
    return (*made, *closed)


def expected(schema: str) -> dict[str, str]:
    """What each function has to look like, in the words of the check."""
    return {
        name: _fingerprint(
            _source(schema, source), [_TYPES[part.split()[1]] for part in arguments.split(", ")], _TYPES[result], kind
        )
        for name, (arguments, result, kind, source) in _SIGNATURES.items()
    }


def fingerprint(
    source: str, arguments: str, result: int, language: int, settings: Any, *flags: Any
) -> str:  # in the order of the check's columns
    """What a function is, as the server describes it; ``flags`` end with the number of the language it has to be in."""
    kind, definer, volatile, *others, wanted = flags
    if (language, settings, kind) != (wanted, [_SETTING], "f") or others != [False, False, "-", 0]:
        return "another function"
    words = {"i": "IMMUTABLE", "v": "VOLATILE"}.get(volatile, "STABLE") + " SECURITY DEFINER" * definer
    return _fingerprint(source, [int(number) for number in arguments.split()], result, words)


def _fingerprint(source: str, arguments: list[int], result: int, kind: str) -> str:
    return f"{arguments} {result} {kind} {source}"


def _source(schema: str, template: str) -> str:
    return template.replace("{schema}", schema)
