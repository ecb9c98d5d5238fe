// Runs a tinct local mechanism (schema tinct/local@1, kinds "cells", "table" and "subset") on one answer. No dependencies.
// The answer leaves the device only as the number, or the list of numbers, that this returns. docs/client.md describes the
// algorithm. As a <script> it defines tinct.privatize; in Node it is a module.
"use strict";

// A uniform BigInt in [0, bound): as many little-endian bytes as bound − 1 has bits, by rejection.
function below(bound, read) {
  const width = bound === 1n ? 0 : (bound - 1n).toString(2).length;
  const mask = (1n << BigInt(width)) - 1n;
  for (;;) {
    const bytes = read(Math.ceil(width / 8));
    let drawn = 0n;
    for (let at = bytes.length - 1; at >= 0; at--) drawn = (drawn << 8n) | BigInt(bytes[at]);
    drawn &= mask;
    if (drawn < bound) return drawn;
  }
}

const secure = (size) => globalThis.crypto.getRandomValues(new Uint8Array(size));

// The members of a subset, sorted: the own symbol or not, then uniform others among the rest (Floyd's algorithm).
function subset(how, at, holds, read) {
  const places = [];
  for (let top = how.size - 1 - how.members; top < how.size - 1; top++) {
    const drawn = Number(below(BigInt(top) + 1n, read));
    places.push(places.includes(drawn) ? top : drawn);
  }
  const dropped = Number(below(BigInt(how.members), read)); // drawn in either case, so that time tells nothing
  if (holds) {
    places[dropped] = places[how.members - 1];
    places.pop();
  }
  const members = places.map((place) => (place >= at ? place + 1 : place));
  if (holds) members.push(at);
  return members.sort((one, other) => one - other);
}

function privatize(mechanism, symbol, read = secure) {
  if (mechanism.schema !== "tinct/local@1") throw new Error("not a tinct local mechanism");
  const at = mechanism.symbols.findIndex((known) => known === symbol);
  if (at < 0) throw new Error("the answer is not one of the mechanism's symbols");
  const how = mechanism.randomiser;
  const drawn = below(BigInt(how.denominator), read);
  if (how.kind === "cells") {
    const surplus = BigInt(how.own) - BigInt(how.other);
    return drawn < surplus ? how.cell_of[at] : Number((drawn - surplus) / BigInt(how.other));
  }
  if (how.kind === "subset") return subset(how, at, drawn < BigInt(how.inside), read);
  if (how.kind !== "table") throw new Error(`this client does not run mechanisms of kind ${how.kind}`);
  let sum = 0n;
  return how.rows[at].findIndex((units) => drawn < (sum += BigInt(units)));
}

const tinct = { privatize, below };
if (typeof module === "object") module.exports = tinct;
