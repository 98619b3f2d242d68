import { hash } from 'node:crypto';
import type { Json, JsonObject, Run } from '@phasegate/core';
import type { MapLeftOut, ShownEvidence } from '@phasegate/wire/watching';
import { breathe } from './searches.ts';

type Completion = Run['completions'][number];

/**
 * What a map shows of what was handed in. All of it, as long as that is little; else what is large has its hash and size
 * in its place, the oldest first. Read bit by bit: others are served in between.
 */
export async function mapEvidence(
  completions: readonly Completion[],
): Promise<(completion: Completion) => ShownEvidence> {
  const shown = new Map<Completion, ShownEvidence>();
  let room = MOST_WHOLE;
  let small = MOST_SMALL;
  let read = 0;
  for (const completion of completions.toReversed()) {
    const known = cuts.get(completion);
    const cut = known ?? cutOf(completion);
    cuts.set(completion, cut);
    if (cut.length <= room) {
      room -= cut.length;
      shown.set(completion, wholeOf(completion));
    } else {
      const left = cut.left();
      small -= left.length;
      shown.set(completion, small >= 0 ? left.shown : left.nothing);
    }
    read += known === undefined ? cut.length : 0;
    if (read < AT_ONCE) continue;
    read = 0;
    await breathe();
  }
  return (completion) => shown.get(completion) ?? wholeOf(completion);
}

/** In characters of JSON, of all completions together. */
const MOST_WHOLE = 256 * 1024;
/** The same, of what is left of them where not all is shown. */
const MOST_SMALL = 4 * 1024 * 1024;
/** A value that is not larger stays where it is. */
const SMALL_VALUE = 1024;
/** As large as one completion of small values may be. */
const SMALL_WHOLE = 16 * 1024;
const AT_ONCE = 4 * 1024 * 1024;

interface Cut {
  /** Of the whole, in characters of JSON. */
  readonly length: number;
  left(): Left;
}

interface Left {
  readonly shown: ShownEvidence;
  readonly length: number;
  /** In place of it where even that is too much. */
  readonly nothing: ShownEvidence;
}

/** A completion never changes: it is read and hashed once for as long as the store keeps it in memory. */
const cuts = new WeakMap<Completion, Cut>();

function wholeOf({ evidence, word }: Completion): ShownEvidence {
  return { evidence, ...(word === undefined ? {} : { word }) };
}

/** INVARIANT: it holds on to none of the values: a store may keep the completion without them. */
function cutOf(completion: Completion): Cut {
  const { evidence, word } = completion;
  const length = lengthOf(evidence) + (word === undefined ? 0 : lengthOf(word));
  let left: Left | undefined;
  return {
    length,
    left() {
      left ??= leftOf(completion);
      return left;
    },
  };
}

function lengthOf(bag: JsonObject): number {
  return Object.entries(bag).reduce((sum, [name, value]) => sum + name.length + textOf(value).length, 0);
}

function leftOf({ evidence, word }: Completion): Left {
  const kept: [string, Json][] = [];
  const out: MapLeftOut[] = [];
  for (const [name, value] of Object.entries(evidence)) {
    const text = textOf(value);
    if (text.length <= SMALL_VALUE) kept.push([name, value]);
    else out.push({ of: 'evidence', name, sha256: hash('sha256', text), size: text.length });
  }
  const ofWord = word === undefined ? [] : [bagLeftOut('word', word)];
  const nothing = { evidence: {}, left_out: [bagLeftOut('evidence', evidence), ...ofWord] };
  const isShort = word === undefined || lengthOf(word) <= SMALL_VALUE;
  const some: ShownEvidence = {
    evidence: Object.fromEntries(kept),
    ...(word !== undefined && isShort ? { word } : {}),
    ...(out.length > 0 || !isShort ? { left_out: [...out, ...(isShort ? [] : ofWord)] } : {}),
  };
  const length = JSON.stringify(some).length;
  return { shown: length <= SMALL_WHOLE ? some : nothing, length: Math.min(length, SMALL_WHOLE), nothing };
}

/** Value by value: no text need be as long as all of them. */
function bagLeftOut(of: MapLeftOut['of'], bag: JsonObject): MapLeftOut {
  const names = Object.entries(bag).map(([name, value]) => [name, hash('sha256', textOf(value))]);
  return { of, name: null, sha256: hash('sha256', JSON.stringify(names)), size: lengthOf(bag) };
}

function textOf(value: Json | undefined): string {
  return JSON.stringify(value ?? null);
}
