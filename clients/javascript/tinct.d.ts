/** A symbol of a mechanism: text, a number, a truth value, or a list of such. */
export type Answer = string | number | boolean | readonly AnswerPart[];
export type AnswerPart = string | number | boolean | null | readonly AnswerPart[];

/** What a person agrees to at most; no δ unless it is named. Both are text, such as "1", "1/3" or "ln 2". */
export interface Limit {
  readonly epsilon: string;
  readonly delta?: string;
}

/** The content of a mechanism file, as `read` or `JSON.parse` gives it. */
export interface Mechanism {
  readonly schema: "tinct/local@1";
  readonly symbols: readonly AnswerPart[];
  readonly epsilon: string;
  readonly delta: string;
  readonly [field: string]: unknown;
}

/** What may leave the device: a number, numbers, or a truth value for each symbol. */
export type Report = number | number[] | boolean[];

/** A report as it is sent; subsets and bits are Base64 where that is shorter. */
export interface Envelope {
  readonly version: 1;
  readonly mechanism: string;
  readonly report: number | number[] | string;
}

/** Random bytes: by default those of `crypto.getRandomValues`. Another source is for tests alone. */
export type RandomBytes = (size: number) => Uint8Array;

/** The mechanism that the text of a file holds, verified; an Error if it does not keep what it states, or more. */
export function read(text: string, most?: Limit): Mechanism;

/** Verify a mechanism, and return the ε and δ that it provably keeps, as its file writes them. */
export function check(mechanism: Mechanism, most?: Limit): { epsilon: string; delta: string };

/** One report of an answer in an envelope, ready for JSON.stringify. */
export function report(mechanism: Mechanism, answer: Answer, source?: RandomBytes): Envelope;

/** One report of an answer. */
export function privatize(mechanism: Mechanism, answer: Answer, source?: RandomBytes): Report;

/** By what reports name the mechanism: 16 hexadecimal digits, from its symbols and units. */
export function id(mechanism: Mechanism): string;

/** A uniform whole number in [0, bound). */
export function below(bound: bigint, source: RandomBytes): bigint;

/** A chain for people who are asked again, as `readChain` gives it. */
export interface Chain {
  readonly schema: "tinct/local-chain@1";
  readonly kind: "bits" | "cells" | "hash";
  readonly lifetime: string;
  readonly first: string;
}

/** The chain that the text of a file holds, verified: its first stage, and both stages as one. */
export function readChain(text: string, most?: { readonly lifetime: string; readonly first: string }): Chain;

/** One report in its envelope, and the memory to keep on the device (null the first time) for the next one. */
export function answer(
  chain: Chain,
  answer: Answer,
  memory?: string | null,
  source?: RandomBytes,
): { report: Envelope; memory: string };
