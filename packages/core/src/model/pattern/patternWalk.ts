import type { Instruction } from './patternProgram.ts';
import type { PatternPlace } from './patternTree.ts';

/** Asks of texts whether a regular expression matches. */
export interface PatternWalk {
  /** Whether it matches anywhere in the text; null where that would have taken more steps than there are left. */
  test(text: string, steps: StepsLeft): boolean | null;
}

/** How many steps may still be taken; counted down. */
export interface StepsLeft {
  left: number;
}

/**
 * Walks a program over texts, all its ways at once. What is possible at a place of the text is a spot; where the same
 * characters lead from one spot to the next is remembered, so that most characters cost one look.
 */
export function walkOf(program: readonly Instruction[]): PatternWalk {
  const first = program.length - 1;
  const seen = new Int32Array(program.length);
  let mark = 0;
  let spots = new Map<string, Spot>();
  let remembered = 0;

  /** Where the steps after some that took a character lead, and where a match that begins here does. */
  function enter(from: readonly number[], around: Around, steps: StepsLeft): Spot {
    mark = mark === LARGEST_MARK ? renew(seen) : mark + 1;
    const takes: number[] = [];
    const waiting = [first, ...from];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seen[at] === mark) continue;
      seen[at] = mark;
      steps.left -= 1;
      const step = program[at] as Instruction;
      if (step.kind === 'done') return DONE;
      if (step.kind === 'take') takes.push(at);
      else if (step.kind === 'split') waiting.push(step.second, step.first);
      else if (isThere(step.place, around)) waiting.push(step.next);
    }
    return remember(takes);
  }

  function remember(takes: number[]): Spot {
    if (takes.length > LARGEST_REMEMBERED) return newSpot(takes);
    const key = takes.sort((one, other) => one - other).join();
    const known = spots.get(key);
    if (known !== undefined) return known;
    remembered += 1 + takes.length;
    if (remembered > MOST_REMEMBERED) {
      spots = new Map();
      remembered = 0;
    }
    const spot = newSpot(takes);
    spots.set(key, spot);
    return spot;
  }

  function onward(spot: Spot, around: Around, steps: StepsLeft): Spot {
    const { before, after } = around;
    const way = before * KINDS + kindOf(after);
    const known = before < PLAIN ? spot.ways[way] : undefined;
    steps.left -= 1;
    if (known !== undefined) return known;
    const from: number[] = [];
    for (const at of spot.takes) {
      const step = program[at] as Extract<Instruction, { kind: 'take' }>;
      steps.left -= 1;
      if (step.takes(before)) from.push(step.next);
    }
    const next = enter(from, around, steps);
    if (before < PLAIN) spot.ways[way] = next;
    return next;
  }

  return {
    test(text, steps) {
      const around = { before: NOTHING, after: text.codePointAt(0) ?? NOTHING };
      let spot = enter([], around, steps);
      for (let index = 0; ; ) {
        if (spot === DONE) return true;
        if (around.after === NOTHING) return false;
        if (steps.left < 0) return null;
        around.before = around.after;
        index += around.before > 0xffff ? 2 : 1;
        around.after = text.codePointAt(index) ?? NOTHING;
        spot = onward(spot, around, steps);
      }
    },
  };
}

/** The steps that can take a character here, and where each way on was found to lead. */
interface Spot {
  readonly takes: readonly number[];
  readonly ways: (Spot | undefined)[];
}

/** The characters on both sides of a place; below 0 where there is none. */
export interface Around {
  readonly before: number;
  readonly after: number;
}

const DONE: Spot = { takes: [], ways: [] };
const NOTHING = -1;
const LARGEST_MARK = 2 ** 31 - 1;
/** Characters whose ways are remembered, and what of the character after them matters to a place. */
export const PLAIN = 128;
const KINDS = 3;
/** A few megabytes at the most, for a pattern and texts that were made to cost them. */
const LARGEST_REMEMBERED = 200;
const MOST_REMEMBERED = 5000;

function newSpot(takes: readonly number[]): Spot {
  return { takes, ways: [] };
}

function renew(seen: Int32Array): number {
  seen.fill(0);
  return 1;
}

/** What of a character matters to the places beside it. */
export function kindOf(code: number): number {
  if (code === NOTHING) return 0;
  return isWord(code) ? 1 : 2;
}

/** Whether a place is between these characters. */
export function isThere(place: PatternPlace, { before, after }: Around): boolean {
  switch (place) {
    case 'start':
      return before === NOTHING;
    case 'end':
      return after === NOTHING;
    case 'boundary':
      return isWord(before) !== isWord(after);
    case 'inside':
      return isWord(before) === isWord(after);
  }
}

function isWord(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f
  );
}
