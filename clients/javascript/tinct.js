// Runs a tinct local mechanism (a file of schema tinct/local@1) on one answer, after proving that the file keeps what it
// states. No dependencies; for pages, workers and Node. Whoever collects the answers also wrote the file, so nothing in
// it is believed: the units are checked against the stated ε and δ in whole numbers, and e^ε is bounded here. The answer
// leaves the device only as what `report` or `privatize` returns. docs/client.md describes the file, the checks and the
// algorithm; ../vectors.json has examples for clients in every language.

const SCHEMA = "tinct/local@1";
const MOST_UNITS = 1n << 62n;
const MOST_EPSILON = 700n;
const TEXT = 10000;
const DIGITS = 400; // of a number that is not text
const DEEPEST = 64; // brackets in the file
const DEEPEST_SYMBOL = 16;
const REQUIRED = ["schema", "name", "epsilon", "delta", "symbols", "growth", "randomiser"];
const OPTIONAL = ["channel", "utility", "value", "upper_bound", "certificate", "note", "p0", "p1"];

const refuse = (why) => {
  throw new Error(`the mechanism is refused: ${why}`);
};
const demand = (holds, why) => holds || refuse(why);

// ---------------------------------------------------------------------------------------------- exact numbers

// Rationals are pairs [numerator, denominator] of BigInts, the second above 0.
const atMost = (one, other) => one[0] * other[1] <= other[0] * one[1];
const absolute = (number) => (number < 0n ? -number : number);
const bits = (number) => (number === 0n ? 0 : number.toString(2).length);

function gcd(one, other) {
  while (other) [one, other] = [other, one % other];
  return one;
}

// Whether a rational in lowest terms is short enough for a file: 1300 digits above the stroke, and as many below it.
function fits([above, below]) {
  const common = gcd(absolute(above), below);
  return [absolute(above) / common, below / common].every((part) => part.toString().length <= 1300);
}

// A decimal such as "-1.5e-3", exactly.
function decimal(text, what) {
  const [, minus, whole, part, exponent] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text);
  const power = Number(exponent || "0");
  demand(Math.abs(power) <= 400, `${what} may have exponents up to 400`);
  const shift = power - part.length;
  const digits = BigInt(minus === "-" ? -1 : 1) * BigInt(whole + part);
  return shift < 0 ? [digits, 10n ** BigInt(-shift)] : [digits * 10n ** BigInt(shift), 1n];
}

// A rational as people write it: "0.1", "1/3", "1e-6".
function rational(text, what) {
  const number = "([+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?)";
  const stripped = text.trim();
  const found = stripped.length <= 1000 && new RegExp(`^${number}(?:\\s*/\\s*${number})?$`).exec(stripped);
  demand(found, `${what} must be a number such as "0.1" or "1/3"`);
  const [above, below] = [decimal(found[1], what), decimal(found[2] || "1", what)];
  demand(below[0] !== 0n, `${what} must not divide by zero`);
  const sign = below[0] < 0n ? -1n : 1n;
  return [sign * above[0] * below[1], sign * above[1] * below[0]];
}

// Every way to write an ε: a rational, or "ln 2" and "log(3/2)", the logarithm of one.
function amount(text, what) {
  demand(typeof text === "string" && /^[ -~]*$/.test(text) && text.length <= TEXT, `${what} must be plain text`);
  const logarithm = /^(?:ln|log)(?:\s*\((.*)\)|\s+(.*))$/.exec(text.trim());
  const value = rational(logarithm ? (logarithm[1] ?? logarithm[2]) : text, what);
  // what is closer to 0 than any floating-point number is no budget
  const above = logarithm
    ? (value[0] - value[1]) * 2n * 10n ** 49n > value[1]
    : value[0] > 0n && value[0] << 1075n > value[1];
  demand(fits(value), `${what} has too many digits`);
  const small = logarithm ? above && atMostExp(value, [MOST_EPSILON, 1n]) : atMost(value, [MOST_EPSILON, 1n]);
  demand(above && small, `${what} must be above 0 and at most ${MOST_EPSILON}`);
  return { value, logarithm: Boolean(logarithm) };
}

// Integers with low ≤ 2^places·e^x ≤ high, for x ≥ 0: everything in the first is rounded down, everything in the second
// up. The series is summed for x/2^halvings < 1/256 and squared again.
function aroundExp([above, below], places) {
  const halvings = BigInt(bits(above / below) + 8);
  const step = (above << places) / (below << halvings);
  const up = (number, by) => (number + by - 1n) / by;
  const unit = 1n << places;
  let [low, high, least, most] = [unit, unit, unit, unit];
  for (let count = 1n; most > 1n; count++) {
    least = ((least * step) >> places) / count;
    most = up(most * (step + 1n), count << places);
    low += least;
    high += most;
  }
  high += 1n; // each further term is less than half the one before
  for (let squared = 0n; squared < halvings; squared++) {
    low = (low * low) >> places;
    high = up(high * high, unit);
  }
  return [low, high];
}

// Whether growth ≤ e^x. It ends, because e^x is irrational for a rational x other than 0.
function atMostExp(growth, x) {
  for (let places = 128n; ; places *= 2n) {
    const [low, high] = aroundExp(x, places);
    if (growth[0] << places <= low * growth[1]) return true;
    if (growth[0] << places > high * growth[1]) return false;
  }
}

// Whether a rational is at most e to an amount.
const atMostGrowth = (growth, { value, logarithm }) => (logarithm ? atMost(growth, value) : atMostExp(growth, value));

// Whether one amount is at most another.
function noLarger(one, other) {
  if (one.logarithm) return atMostGrowth(one.value, other);
  return other.logarithm ? !atMostExp(other.value, one.value) : atMost(one.value, other.value);
}

// The ε that a ratio of units stands for, in words; the digits are for people, no decision rests on them.
function allowance([above, below]) {
  if (below <= 0n) return "any ε at all: some answers rule out some symbols";
  const log = (number) => {
    const shift = Math.max(0, bits(number) - 60);
    return Math.log(Number(number >> BigInt(shift))) + shift * Math.LN2;
  };
  return `ε = ${(log(above) - log(below)).toPrecision(8)}`;
}

// ------------------------------------------------------------------------------------------- fields of the file

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string" && (value.length <= TEXT || [...value].length <= TEXT);
const isWhole = (value) => Number.isInteger(value) && value >= 0 && value < 2 ** 40;
const quoted = (value) => JSON.stringify(String(value).slice(0, 80));

// An object with these fields and no others; what it inherits does not count.
function fieldsOf(value, what, required, optional = []) {
  demand(isObject(value), `${what} must be an object`);
  const missing = required.find((name) => !Object.hasOwn(value, name));
  demand(missing === undefined, `${what} has no field ${quoted(missing)}`);
  const unknown = Reflect.ownKeys(value).find((name) => !required.includes(name) && !optional.includes(name));
  demand(unknown === undefined, `${what} has an unknown field ${quoted(unknown)}`);
  return (name) => (Object.hasOwn(value, name) ? value[name] : null);
}

function listOf(value, what) {
  demand(Array.isArray(value) && value.length > 0, `${what} must be a list that is not empty`);
  return Array.from(value);
}

function unitsOf(value, what) {
  demand(typeof value === "string" && /^(?:0|[1-9]\d{0,18})$/.test(value), `${what} must hold whole numbers as text`);
  return BigInt(value);
}

function wholeOf(value, what) {
  demand(isWhole(value), `${what} must be a whole number`);
  return value;
}

function growthOf(text) {
  const found = typeof text === "string" && /^(\d{1,1300})(?:\/(\d{1,1300}))?$/.exec(text);
  demand(found, "growth must be a whole number or a fraction, as text");
  const [above, below] = [BigInt(found[1]), BigInt(found[2] || "1")];
  const plain = below !== 0n && gcd(above, below) === 1n && text === (below === 1n ? `${above}` : `${above}/${below}`);
  demand(plain, "growth must be written in lowest terms");
  return [above, below];
}

// One text for each symbol, equal for symbols that tinct takes for equal: 1 is also 1.0 and true.
function keyOf(symbol, nested = 0) {
  if (Array.isArray(symbol)) {
    demand(nested < DEEPEST_SYMBOL, `a symbol may be nested up to ${DEEPEST_SYMBOL} deep`);
    return `[${Array.from(symbol, (part) => keyOf(part, nested + 1)).join()}]`;
  }
  if (typeof symbol === "string") {
    demand(!/\p{Surrogate}/u.test(symbol), "a symbol has half a surrogate pair");
    return JSON.stringify(symbol);
  }
  if (typeof symbol === "boolean") return `${Number(symbol)}`;
  if (symbol === null && nested > 0) return "null";
  demand(typeof symbol === "number" && Number.isFinite(symbol), "a symbol must be text, a number or a list of such");
  // beyond, different numbers of the file are one number here
  demand(!Number.isInteger(symbol) || Number.isSafeInteger(symbol), "a symbol is a number beyond 2^53");
  return `${symbol}`;
}

function placesOf(value) {
  const symbols = listOf(value, "symbols");
  const places = new Map(symbols.map((symbol, at) => [keyOf(symbol), at]));
  demand(places.size === symbols.length, "symbols must be distinct");
  return places;
}

// What people and analysts read. No draw depends on it; it must still be what it says it is.
function checkWords(field, size) {
  const isNumber = (value) => typeof value === "number" && Math.abs(value) < 1e300;
  demand(isText(field("name")), "name must be text");
  demand(!field.has("note") || isText(field("note")), "note must be text");
  for (const name of ["utility", "certificate"])
    demand(field(name) === null || isText(field(name)), `${name} must be text`);
  for (const name of ["value", "upper_bound"])
    demand(field(name) === null || isNumber(field(name)), `${name} must be a number`);
  demand(field("channel") === null || isObject(field("channel")), "channel must be an object");
  demand((field("p0") === null) === (field("p1") === null), "p0 and p1 must be given together");
  for (const name of ["p0", "p1"]) if (field(name) !== null) checkDistribution(field(name), name, size);
}

function checkDistribution(value, name, size) {
  const chances = listOf(value, name);
  const fine = chances.every((chance) => typeof chance === "number" && chance >= 0 && chance <= 1 + 1e-9);
  demand(chances.length === size && fine, `${name} must have a probability for each symbol`);
  let [sum, rest] = [0, 0]; // what each addition loses is kept (Neumaier)
  for (const chance of chances) {
    const next = sum + chance;
    rest += sum >= chance ? sum - next + chance : chance - next + sum;
    sum = next;
  }
  demand(Math.abs(sum + rest - 1) <= 1e-9, `${name} must sum to 1`);
}

// ------------------------------------------------------------------------------------------------------- draws

// The operating system's generator, asked for many bytes at a time; bytes that were used are wiped.
const POOL = 65536; // the most that getRandomValues gives at once
let pool = new Uint8Array(0);
let used = 0;
function secure(size) {
  if (used + size > pool.length) {
    pool = globalThis.crypto.getRandomValues(new Uint8Array(POOL));
    used = 0;
  }
  const taken = pool.slice(used, used + size);
  pool.fill(0, used, used + size);
  used += size;
  return taken;
}

// A uniform BigInt in [0, bound): as many little-endian bytes as bound − 1 has bits, by rejection.
function below(bound, read) {
  const width = bits(bound - 1n);
  const mask = (1n << BigInt(width)) - 1n;
  for (;;) {
    const bytes = read(Math.ceil(width / 8));
    let drawn = 0n;
    for (let at = bytes.length - 1; at >= 0; at--) drawn = (drawn << 8n) | BigInt(bytes[at]);
    drawn &= mask;
    if (drawn < bound) return drawn;
  }
}

// The same for a Number of at most 2^32, which is much quicker.
function belowSmall(bound, read) {
  const width = 32 - Math.clz32(bound - 1);
  const size = Math.ceil(width / 8);
  const mask = 2 ** width - 1;
  for (;;) {
    const bytes = read(size);
    let drawn = 0;
    for (let at = size - 1; at >= 0; at--) drawn = drawn * 256 + bytes[at];
    drawn = (drawn & mask) >>> 0;
    if (drawn < bound) return drawn;
  }
}

// The own cell with own − other units; the rest of the units is divided evenly among all cells.
function drawCell(cell, own, other, total, read) {
  return cellAt(cell, own, other, below(total, read));
}

function cellAt(cell, own, other, drawn) {
  return drawn < own - other ? cell : Number((drawn - (own - other)) / other);
}

// The members of a subset, sorted: the own symbol or not, then uniform others among the rest (Floyd's algorithm).
function drawSubset(at, size, members, holds, read) {
  const taken = new Set();
  for (let top = size - 1 - members; top < size - 1; top++) {
    const drawn = belowSmall(top + 1, read);
    taken.add(taken.has(drawn) ? top : drawn);
  }
  const places = [...taken];
  const dropped = belowSmall(members, read); // drawn in either case, so that time tells nothing
  if (holds) {
    places[dropped] = places[members - 1];
    places.pop();
  }
  const found = places.map((place) => (place >= at ? place + 1 : place));
  if (holds) found.push(at);
  return Array.from(Uint32Array.from(found).sort()); // by value, without a comparison function
}

// ------------------------------------------------------------------------------------------------------- kinds

// What every kind gives: `ratio`, the most by which the units of one report differ between two symbols, and `draw`.
// Only a table and `reveal` may have `spill` instead, the units by which one row exceeds R times another, for δ.
const KINDS = new Map([
  [
    "cells",
    (field, size, total) => {
      const [count, cellOf] = cellsOf(field, size);
      const [own, other] = ownAndOther(field, count, total);
      return { ratio: [own, other], draw: (at, read) => drawCell(cellOf[at], own, other, total, read) };
    },
  ],
  [
    "table",
    (field, size, total) => {
      const allowed = unitsOf(field("allowed"), "allowed");
      const rows = listOf(field("rows"), "rows").map((row) => listOf(row, "rows").map((units) => unitsOf(units, "rows")));
      const even = rows.length === size && rows.every((row) => row.length === rows[0].length);
      demand(even, "rows must have one row for each symbol, all of one length");
      const whole = rows.every((row) => row.reduce((sum, units) => sum + units, 0n) === total);
      demand(whole, "every row must sum to the denominator");
      const draw = (at, read) => {
        const drawn = below(total, read);
        let sum = 0n;
        return rows[at].findIndex((units) => drawn < (sum += units));
      };
      return { ratio: widest(rows), allowed, spill: (growth) => spill(rows, growth), draw };
    },
  ],
  [
    "reveal", // the symbol itself, after the cells, with units of δ
    (field, size, total) => {
      const [count, cellOf] = cellsOf(field, size);
      const reveal = unitsOf(field("reveal"), "reveal");
      const [own, other] = ownAndOther(field, count, total - reveal);
      const draw = (at, read) => {
        const drawn = below(total, read);
        return drawn < reveal ? count + at : cellAt(cellOf[at], own, other, drawn - reveal);
      };
      const spilt = ([above, below]) => {
        const over = own * below - above * other;
        return reveal * below + (over > 0n ? over : 0n);
      };
      return { ratio: [own, other], allowed: reveal, spill: spilt, draw };
    },
  ],
  [
    "subset",
    (field, size, total) => {
      const members = wholeOf(field("members"), "members");
      demand(size < 2 ** 31, "a subset must be of fewer than 2^31 symbols");
      demand(members >= 1 && members < size, "members must be at least 1 and less than the number of symbols");
      const inside = unitsOf(field("inside"), "inside");
      // inside/C(k−1, d−1) with the symbol, outside/C(k−1, d) without, and C(k−1, d)/C(k−1, d−1) = (k − d)/d
      const ratio = [inside * BigInt(size - members), (total - inside) * BigInt(members)];
      demand(inside <= total && ratio[0] >= ratio[1], "inside must favour the own symbol and be at most the denominator");
      return { ratio, draw: (at, read) => drawSubset(at, size, members, below(total, read) < inside, read) };
    },
  ],
  [
    "unary",
    (field, size, total) => {
      const other = unitsOf(field("other"), "other");
      const fine = total % 2n === 0n && other > 0n && 2n * other <= total;
      demand(fine, "other must be at least 1 and at most half of the denominator, which must be even");
      const draw = (at, read) =>
        Array.from({ length: size }, (_, bit) => below(total, read) < (bit === at ? total / 2n : other));
      return { ratio: [total - other, other], draw };
    },
  ],
  [
    "hash",
    (field, size, total) => {
      const [prime, buckets] = [wholeOf(field("prime"), "prime"), wholeOf(field("buckets"), "buckets")];
      const fine = prime >= size && isPrime(prime) && buckets >= 2 && buckets <= prime;
      demand(fine, "prime must be a prime from the number of symbols on, and buckets from 2 to prime");
      const [own, other] = ownAndOther(field, buckets, total);
      const draw = (at, read) => {
        const a = below(BigInt(prime) - 1n, read) + 1n;
        const b = below(BigInt(prime), read);
        const bucket = Number(((a * BigInt(at) + b) % BigInt(prime)) % BigInt(buckets));
        return [Number(a), Number(b), drawCell(bucket, own, other, total, read)];
      };
      return { ratio: [own, other], draw };
    },
  ],
  [
    "hadamard",
    (field, size, total) => {
      const order = BigInt(wholeOf(field("order"), "order"));
      demand(order > BigInt(size) && (order & (order - 1n)) === 0n, "order must be a power of two above the number of symbols");
      const plus = unitsOf(field("plus"), "plus");
      demand(plus <= total && 2n * plus >= total, "plus must be from half of the denominator to all of it");
      const draw = (at, read) => {
        const row = BigInt(at) + 1n;
        const odd = below(total, read) >= plus;
        const place = below(order, read);
        const found = (row & place).toString(2).replaceAll("0", "").length % 2 === 1;
        return Number(found === odd ? place : place ^ (row & -row)); // flipping one bit is a bijection
      };
      return { ratio: [plus, total - plus], draw };
    },
  ],
]);

const FIELDS = new Map([
  ["cells", ["cells", "own", "other", "cell_of"]],
  ["table", ["allowed", "rows"]],
  ["reveal", ["cells", "own", "other", "cell_of", "reveal"]],
  ["subset", ["members", "inside"]],
  ["unary", ["other"]],
  ["hash", ["prime", "buckets", "own", "other"]],
  ["hadamard", ["order", "plus"]],
]);

function cellsOf(field, size) {
  const count = wholeOf(field("cells"), "cells");
  const cellOf = listOf(field("cell_of"), "cell_of");
  const inside = cellOf.length === size && cellOf.every((cell) => isWhole(cell) && cell < count);
  demand(inside, `cell_of must have a cell from 0 to ${count - 1} for each symbol`);
  return [count, cellOf];
}

function ownAndOther(field, count, total) {
  const [own, other] = [unitsOf(field("own"), "own"), unitsOf(field("other"), "other")];
  demand(own + BigInt(count - 1) * other === total, "own and the others must sum to the denominator");
  demand(other > 0n && other <= own, "other must be at least 1 and at most own");
  return [own, other];
}

function isPrime(number) {
  for (let by = 2; by * by <= number; by++) if (number % by === 0) return false;
  return number >= 2;
}

// The largest ratio within a column; one without units in any row is never reported.
function widest(rows) {
  let found = [1n, 1n];
  for (let at = 0; at < rows[0].length; at++) {
    let [least, most] = [rows[0][at], rows[0][at]];
    for (const row of rows) {
      if (row[at] < least) least = row[at];
      if (row[at] > most) most = row[at];
    }
    if (most > 0n && most * found[1] > found[0] * least) found = [most, least];
  }
  return found;
}

// The most units, times the denominator of R, by which one row exceeds R times another.
function spill(rows, [above, below]) {
  let found = 0n;
  for (const one of rows)
    for (const other of rows) {
      const over = one.reduce((sum, units, at) => {
        const excess = below * units - above * other[at];
        return excess > 0n ? sum + excess : sum;
      }, 0n);
      if (over > found) found = over;
    }
  return found;
}

// -------------------------------------------------------------------------------------------------- verification

const verified = new WeakMap();

// The mechanism as it was when it was proved, which alone is run: changing the object afterwards changes nothing.
function proved(mechanism) {
  if (isObject(mechanism) && verified.has(mechanism)) return verified.get(mechanism);
  demand(isObject(mechanism) && mechanism.schema === SCHEMA, `schema must be ${SCHEMA}`);
  const get = fieldsOf(mechanism, "the mechanism", REQUIRED, OPTIONAL);
  const taken = new Map([...REQUIRED, ...OPTIONAL].map((name) => [name, get(name)])); // each field is read once
  const field = Object.assign((name) => taken.get(name), { has: (name) => Object.hasOwn(mechanism, name) });
  const symbols = copied(field("symbols"));
  const places = placesOf(symbols);
  checkWords(field, places.size);
  const budget = amount(field("epsilon"), "epsilon");
  const plain = typeof field("delta") === "string" && /^[ -~]*$/.test(field("delta"));
  demand(plain, "delta must be plain text");
  const delta = rational(field("delta"), "delta");
  demand(delta[0] >= 0n && delta[0] <= delta[1], "delta must be a number from 0 to 1");
  const { draw, kind, members, fields } = provedDraw(field, places.size, budget, delta);
  let name = null;
  const id = () => (name ??= identity(symbols, fields));
  const pack = packing(kind, places.size, members);
  const said = { epsilon: field("epsilon"), stated: field("delta") };
  const found = Object.freeze({ places, draw, budget, delta, id, pack, ...said });
  verified.set(mechanism, found);
  return found;
}

function provedDraw(field, size, budget, delta) {
  const given = field("randomiser");
  const kind = isObject(given) && Object.hasOwn(given, "kind") ? given.kind : null;
  demand(KINDS.has(kind), `this client does not run mechanisms of kind ${quoted(kind)}`);
  const names = ["kind", "size", "denominator", ...FIELDS.get(kind)];
  const once = fieldsOf(given, "randomiser", names);
  const held = new Map(names.map((name) => [name, name === "kind" ? kind : copied(once(name))])); // each is read once
  const part = (name) => held.get(name);
  demand(wholeOf(part("size"), "size") === size, `the randomiser must be for ${size} symbols`);
  const total = unitsOf(part("denominator"), "denominator");
  demand(total >= 2n && total <= MOST_UNITS, "the denominator must be from 2 to 2^62");
  const made = KINDS.get(kind)(part, size, total);
  const growth = growthOf(field("growth"));
  const instead = `the file states ε = ${field("epsilon")}, but its units allow ${allowance(made.ratio)}`;
  demand(growth[0] >= growth[1], "growth must be at least 1");
  demand(atMostGrowth(growth, budget), `growth is more than e^ε: ${instead}`);
  if (made.allowed) {
    demand(made.allowed * delta[1] <= delta[0] * total, `allowed is more than δ = ${field("delta")} of the units`);
    const spilt = made.spill(growth);
    const needs = `the file states δ = ${field("delta")}, but at its ε the units need δ = `;
    const share = Number((spilt * 10n ** 12n) / (growth[1] * total)) / 1e12;
    demand(spilt <= made.allowed * growth[1], `not private: ${needs}${share.toPrecision(8)} or more`);
  } else demand(made.ratio[0] * growth[1] <= growth[0] * made.ratio[1], `not private: ${instead}`);
  return { draw: made.draw, kind, members: kind === "subset" ? part("members") : 0, fields: held };
}

// A list as it is now, with the lists in it.
function copied(value, nested = 0) {
  if (!Array.isArray(value)) return value;
  demand(nested <= DEEPEST_SYMBOL, `a list may be nested up to ${DEEPEST_SYMBOL} deep`);
  return Array.from(value, (part) => copied(part, nested + 1));
}

// The ε and δ that a mechanism provably keeps, as its file writes them. `most` is what the person agrees to at most, such
// as { epsilon: "1" }; no δ is agreed to unless it names one.
function check(mechanism, most) {
  const found = proved(mechanism);
  if (most !== undefined) {
    const limit = amount(most.epsilon, "the limit of epsilon");
    demand(noLarger(found.budget, limit), `ε = ${found.epsilon} is more than the limit, ${most.epsilon}`);
    const share = rational(most.delta ?? "0", "the limit of delta");
    demand(atMost(found.delta, share), `δ = ${found.stated} is more than the limit, ${most.delta ?? "0"}`);
  }
  return { epsilon: found.epsilon, delta: found.stated };
}

// What JSON.parse does not tell: keys given twice, fractions where whole numbers belong, numbers that overflow.
function checkText(text, whole = "randomiser") {
  const open = []; // for every open bracket: the keys so far, and the key that is being given
  let top = null; // the field of the mechanism that is being read
  // whole numbers that stand in a row are one token, because there may be very many
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|(?:-?\d+[\s,]+){1,1000}|[[\]{}:,]|[^\s[\]{}:,"]+/g)) {
    const inner = open[open.length - 1];
    if (token === "{" || token === "[") {
      open.push({ keys: token === "{" ? new Set() : null, awaits: token === "{" });
      demand(open.length <= DEEPEST, `the brackets are nested deeper than ${DEEPEST}`);
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ",") inner.awaits = inner.keys !== null;
    else if (token === ":") inner.awaits = false;
    else if (token[0] === '"') {
      const said = JSON.parse(token);
      demand(!/\p{Surrogate}/u.test(said), "a text has half a surrogate pair");
      if (!inner?.awaits) continue;
      demand(!inner.keys.has(said), `the key ${quoted(said)} is given twice`);
      inner.keys.add(said);
      if (open.length === 1) top = said;
    } else if (/\d/.test(token)) {
      const most = Math.max(...token.split(/[\s,]+/).map((number) => number.replace(/\D/g, "").length));
      demand(most <= DIGITS, `a number has more than ${DIGITS} digits`);
      if (token.includes(",")) inner.awaits = inner.keys !== null;
      if (!/[.eE]/.test(token)) continue;
      demand(Number.isFinite(Number(token)), "a number is too large");
      demand(top !== whole, "a number of the randomiser is not written as a whole number");
    }
  }
}

// The mechanism that the text of a file holds, verified.
function read(text, most) {
  demand(typeof text === "string", "a file must be given as text");
  const content = text.replace(/^\ufeff/, "");
  let mechanism;
  try {
    mechanism = JSON.parse(content);
  } catch {
    refuse("the file is not JSON");
  }
  checkText(content);
  check(mechanism, most);
  return mechanism;
}

// One report of an answer, from a mechanism that is verified before its first one.
function privatize(mechanism, symbol, source = secure) {
  const { places, draw } = proved(mechanism);
  let at;
  try {
    at = places.get(keyOf(symbol));
  } catch {
    at = undefined; // nothing that could be a symbol
  }
  if (at === undefined) throw new Error("the answer is not one of the mechanism's symbols");
  return draw(at, source);
}

// --------------------------------------------------------------------------------------------------------- envelopes

const VERSION = 1; // of the envelope around a report
const encoder = new TextEncoder();

// The bytes that name a value: text with its length, numbers by the bits of a double, lists in brackets.
function written(value, into) {
  if (Array.isArray(value)) {
    into.push(0x5b);
    for (const part of value) written(part, into);
    into.push(0x5d);
  } else if (typeof value === "string") {
    const text = encoder.encode(value);
    into.push(...encoder.encode(`t${text.length}:`));
    for (const byte of text) into.push(byte);
  } else if (value === null) into.push(0x7a);
  else {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, Number(value) + 0); // −0 is 0
    into.push(0x6e, ...bytes);
  }
}

// By what reports name a mechanism: the beginning of the SHA-256 of its symbols and units. It is computed here, because a
// name that the collector chooses could be another one for each person.
function identity(symbols, fields) {
  const bytes = [];
  written(symbols, bytes);
  for (const name of [...fields.keys()].sort()) {
    written(name, bytes);
    written(fields.get(name), bytes);
  }
  return sha256(Uint8Array.from(bytes)).slice(0, 16);
}

const PRIMES = [];
for (let number = 2; PRIMES.length < 64; number++) if (isPrime(number)) PRIMES.push(number);
// the first 32 bits of the fraction of a root, exactly: ⌊root·2^32⌋ in whole numbers
function fraction(prime, power) {
  const wanted = BigInt(prime) << (32n * BigInt(power));
  let [low, high] = [0n, 1n << 40n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(power) <= wanted) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn);
}
const ROUNDS = PRIMES.map((prime) => fraction(prime, 3));
const START = PRIMES.slice(0, 8).map((prime) => fraction(prime, 2));

// SHA-256 in hexadecimal (FIPS 180-4); WebCrypto has it only as a promise.
function sha256(data) {
  const padded = new Uint8Array(Math.ceil((data.length + 9) / 64) * 64);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(padded.length - 4, (data.length << 3) >>> 0);
  const state = [...START];
  const turn = (word, by) => (word >>> by) | (word << (32 - by));
  const words = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let at = 0; at < 16; at++) words[at] = view.getInt32(block + 4 * at);
    for (let at = 16; at < 64; at++) {
      const [early, late] = [words[at - 15], words[at - 2]];
      const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
      const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
      words[at] = words[at - 16] + first + words[at - 7] + second;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let at = 0; at < 64; at++) {
      const choice = (e & f) ^ (~e & g);
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + ROUNDS[at] + words[at]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => (state[at] = (state[at] + word) | 0));
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

// How a report is written down: bits in Base64 where they are shorter than numbers, which only the mechanism decides.
function packing(kind, size, members) {
  const digits = String(size - 1).length + 1;
  const shorter = kind === "subset" && members > 1 && Math.ceil(size / 24) * 4 < members * digits;
  if (kind !== "unary" && !shorter) return (report) => report;
  return (report) => {
    const bytes = new Uint8Array(Math.ceil(size / 8));
    const set = (symbol) => (bytes[symbol >> 3] |= 1 << (symbol & 7));
    if (kind === "unary") report.forEach((bit, symbol) => bit && set(symbol));
    else report.forEach(set);
    let text = "";
    for (let at = 0; at < bytes.length; at += 8190) text += String.fromCharCode(...bytes.subarray(at, at + 8190));
    return btoa(text);
  };
}

// The id of a mechanism, from what was verified.
const id = (mechanism) => proved(mechanism).id();

// One report of an answer as it is sent: with the id of the mechanism, so that two designs can be in the field at once.
function report(mechanism, symbol, source = secure) {
  const found = proved(mechanism);
  return { version: VERSION, mechanism: found.id(), report: found.pack(privatize(mechanism, symbol, source)) };
}

// ------------------------------------------------------------------------------------------------ asking again: chains

const CHAIN = "tinct/local-chain@1";
const MEMORY = "tinct/memo@1";
const HALF = 1n << 31n; // units of each of the two stages
const STAGES = new Map([["bits", "unary"], ["cells", "cells"], ["hash", "hash"]]);
const CHAIN_FIELDS = ["kind", "lifetime", "first", "symbols", "lifetime_growth", "first_growth", "memo", "noise"];
const chains = new WeakMap();

// The chain that the text of a file holds, verified: its first stage, and both stages as one. `most` is what the person
// agrees to at most, such as { lifetime: "2", first: "1" }.
function readChain(text, most) {
  demand(typeof text === "string", "a file must be given as text");
  const content = text.replace(/^\ufeff/, "");
  let given;
  try {
    given = JSON.parse(content);
  } catch {
    refuse("the file is not JSON");
  }
  checkText(content, "memo");
  demand(isObject(given) && given.schema === CHAIN, `schema must be ${CHAIN}`);
  const field = fieldsOf(given, "the chain", ["schema", ...CHAIN_FIELDS]);
  const kind = field("kind");
  demand(STAGES.has(kind), `kind must be one of ${[...STAGES.keys()].join(", ")}`);
  const symbols = copied(field("symbols"));
  const places = placesOf(symbols);
  const size = places.size;
  const stage = (randomiser, growth, epsilon) => {
    const held = new Map([["randomiser", randomiser], ["growth", growth], ["epsilon", epsilon], ["delta", "0"]]);
    return provedDraw((name) => held.get(name), size, amount(epsilon, "a budget"), [0n, 1n]);
  };
  const memo = stage(field("memo"), field("lifetime_growth"), field("lifetime"));
  const unit = (name) => unitsOf(memo.fields.get(name), name);
  demand(memo.kind === STAGES.get(kind) && unit("denominator") === HALF, "memo must be of this kind and have 2^31 units");
  const noise = unitsOf(field("noise"), "noise");
  const count = BigInt(kind === "bits" ? 2 : memo.fields.get(kind === "cells" ? "cells" : "buckets"));
  demand(noise * count <= HALF, "noise must leave the kept value the likeliest");
  const both = new Map(memo.fields);
  both.set("denominator", `${HALF * HALF}`);
  if (kind === "bits") both.set("other", `${unit("other") * (HALF - noise) + (HALF - unit("other")) * noise}`);
  else {
    const [own, other, kept] = [unit("own"), unit("other"), HALF - (count - 1n) * noise];
    both.set("own", `${own * kept + (count - 1n) * other * noise}`);
    both.set("other", `${own * noise + other * kept + (count - 2n) * other * noise}`);
    const plain = kind === "hash" || (count === BigInt(size) && both.get("cell_of").every((cell, at) => cell === at));
    demand(plain, "the cells of a chain must be its symbols");
  }
  const one = stage(Object.fromEntries(both), field("first_growth"), field("first"));
  if (most !== undefined)
    for (const name of ["lifetime", "first"]) {
      const limit = amount(most[name], `the limit of ${name}`);
      demand(noLarger(amount(field(name), name), limit), `${name}, ε = ${field(name)}, is more than ${most[name]}`);
    }
  const chain = Object.freeze({ schema: CHAIN, kind, lifetime: field("lifetime"), first: field("first") });
  const ids = { memo: identity(symbols, memo.fields), mechanism: identity(symbols, one.fields) };
  const pack = packing(one.kind, size, 0);
  chains.set(chain, { kind, places, size, memo, noise, count: Number(count), ids, pack });
  return chain;
}

// A memory as text, with a checksum against damage.
function memoryText(fields) {
  const lines = (held) => `{\n${Object.entries(held).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`).join(",\n")}\n}\n`;
  return lines({ ...fields, check: sha256(encoder.encode(lines(fields))).slice(0, 16) });
}

function readMemory(text, { kind, size, count, memo, ids }) {
  const fail = (why) => {
    throw new Error(`the memory is refused: ${why}`);
  };
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    fail("it is not JSON");
  }
  const names = ["schema", "memo", "mechanism", "hash", "drawn", "check"];
  if (!isObject(given) || Object.keys(given).join() !== names.join() || given.schema !== MEMORY) fail("it is no memory of a chain");
  const { check: said, ...fields } = given;
  if (memoryText(fields) !== text) fail("it was changed or damaged since it was written");
  if (given.memo !== ids.memo || given.mechanism !== ids.mechanism) fail("it is of another chain");
  const isBits = (value) => Array.isArray(value) && value.length === size && value.every((bit) => bit === 0 || bit === 1);
  const isKept = kind === "bits" ? isBits : (value) => isWhole(value) && value < count;
  const many = kind === "hash" ? count : size;
  const prime = kind === "hash" ? memo.fields.get("prime") : 0;
  const pair = given.hash;
  const hashed = kind === "hash" && Array.isArray(pair) && pair.length === 2 && pair.every(isWhole) && pair[0] > 0 && Math.max(...pair) < prime;
  const drawn = isObject(given.drawn) && Object.entries(given.drawn).every(([at, value]) => /^\d{1,9}$/.test(at) && Number(at) < many && isKept(value));
  if (!drawn || (pair !== null && !hashed)) fail("it holds what the chain cannot have drawn");
  return fields;
}

// One report of an answer in its envelope, and the memory that the device has to keep for the next one, as text. Losing
// the memory costs the whole lifetime's ε again.
function answer(chain, symbol, memory = null, source = secure) {
  const found = chains.get(chain);
  if (found === undefined) throw new Error("the chain is refused: it was not verified by readChain");
  const { kind, places, memo, noise, count, ids, pack } = found;
  let code;
  try {
    code = places.get(keyOf(symbol));
  } catch {
    code = undefined;
  }
  if (code === undefined) throw new Error("the answer is not one of the chain's symbols");
  const kept = memory === null ? { schema: MEMORY, ...ids, hash: null, drawn: {} } : readMemory(memory, found);
  const unit = (name) => BigInt(memo.fields.get(name));
  const fresh = (cell) => drawCell(cell, HALF - BigInt(count - 1) * noise, noise, HALF, source);
  let [at, said] = [code, null];
  if (kind === "hash") {
    const prime = unit("prime");
    kept.hash ??= [Number(below(prime - 1n, source)) + 1, Number(below(prime, source))];
    const [a, b] = kept.hash;
    at = Number(((BigInt(a) * BigInt(code) + BigInt(b)) % prime) % BigInt(count));
    kept.drawn[at] ??= drawCell(at, unit("own"), unit("other"), HALF, source);
    said = [a, b, fresh(kept.drawn[at])];
  } else if (kind === "bits") {
    kept.drawn[at] ??= memo.draw(at, source).map(Number);
    said = kept.drawn[at].map((bit) => (bit === 1) !== below(HALF, source) < noise);
  } else {
    kept.drawn[at] ??= memo.draw(at, source);
    said = fresh(kept.drawn[at]);
  }
  return { report: { version: VERSION, mechanism: ids.mechanism, report: pack(said) }, memory: memoryText(kept) };
}

export { read, check, privatize, report, id, below, readChain, answer };
