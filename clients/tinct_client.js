// Runs a tinct local mechanism (schema tinct/local@1, kinds "cells" and "table") on one answer. No dependencies.
// The answer leaves the device only as the number this returns. docs/client.md describes the algorithm.
"use strict";

// A uniform BigInt in [0, bound): as many little-endian bytes as bound − 1 has bits, by rejection.
function below(bound, read) {
  const width = (bound - 1n).toString(2).length;
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
  if (how.kind !== "table") throw new Error(`this client does not run mechanisms of kind ${how.kind}`);
  let sum = 0n;
  return how.rows[at].findIndex((units) => drawn < (sum += BigInt(units)));
}

module.exports = { privatize, below };
