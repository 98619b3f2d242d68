import type { Instruction } from './patternProgram.ts';
import { isThere, kindOf, PLAIN, type StepsLeft } from './patternWalk.ts';

/** A part of a text, by the numbers of its first character and of the one behind its last. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Asks of texts what of them a regular expression matches. */
export interface PatternSpans {
  /**
   * Everything that is part of any match, in order; matches that overlap are one span, and those of nothing are none.
   * Null where it would have taken more steps than there are left.
   */
  spans(text: string, steps: StepsLeft): readonly Span[] | null;
}

/**
 * Walks all ways of a program over a text at once, each with where it began. Of two that have come to the same step, the
 * one that began first matches all that the other does, and more: so there is at most one for every step.
 */
export function spansOf(program: readonly Instruction[]): PatternSpans {
  const { length } = program;
  const starts = startsOf(program);

  return {
    spans(text, steps) {
      const seen = new Int32Array(length).fill(-1);
      // A step waits behind at most one other for every split that was passed, and none is passed twice.
      const waiting = new Int32Array(2 * length + 1);
      const found: MutableSpan[] = [];
      let ways = noWays(length);
      let onward = noWays(length);
      let before = NOTHING;
      let index = 0;

      /** Goes on to all steps that take a character, and notes the match that ends here. */
      const enter = (start: number, from: number, after: number) => {
        let left = 1;
        waiting[0] = start;
        while (left > 0) {
          left -= 1;
          const at = waiting[left] as number;
          if (seen[at] === index) continue;
          seen[at] = index;
          steps.left -= 1;
          const step = program[at] as Instruction;
          if (step.kind === 'take') add(onward, at, from);
          else if (step.kind === 'split') {
            waiting[left++] = step.second;
            waiting[left++] = step.first;
          } else if (step.kind === 'done') note(found, { from, to: index });
          else if (isThere(step.place, { before, after })) waiting[left++] = step.next;
        }
      };

      for (;;) {
        const after = text.codePointAt(index) ?? NOTHING;
        // In the order in which they began: the first to come to a step is the one to keep.
        for (let one = 0; one < ways.count; one += 1) {
          const step = program[ways.at[one] as number] as Extract<Instruction, { kind: 'take' }>;
          steps.left -= 1;
          if (step.takes(before)) enter(step.next, ways.from[one] as number, after);
        }
        if (after === NOTHING) return found;
        if (steps.left < 0) return null;
        const isNew = (at: number) => seen[at] !== index;
        for (const at of starts(before, after, steps).filter(isNew)) add(onward, at, index);
        [ways, onward] = [onward, ways];
        onward.count = 0;
        before = after;
        index += after > 0xffff ? 2 : 1;
      }
    },
  };
}

/**
 * The steps with which a match can begin between two characters, of those only the ones that take the second: nearly
 * always none. What was found out is remembered.
 */
function startsOf(program: readonly Instruction[]) {
  const known = new Map<number, readonly number[]>();

  function find(before: number, after: number, steps: StepsLeft): readonly number[] {
    const seen = new Set<number>();
    const found: number[] = [];
    const waiting = [program.length - 1];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      steps.left -= 1;
      const step = program[at] as Instruction;
      if (step.kind === 'take' && step.takes(after)) found.push(at);
      else if (step.kind === 'split') waiting.push(step.second, step.first);
      else if (step.kind === 'place' && isThere(step.place, { before, after })) waiting.push(step.next);
    }
    return found;
  }

  return (before: number, after: number, steps: StepsLeft) => {
    steps.left -= 1;
    if (after >= PLAIN) return find(before, after, steps);
    const key = kindOf(before) * PLAIN + after;
    const remembered = known.get(key);
    if (remembered !== undefined) return remembered;
    const found = find(before, after, steps);
    known.set(key, found);
    return found;
  };
}

/** Steps that wait for a character, each with where its match began. */
interface Ways {
  readonly at: Int32Array;
  readonly from: Int32Array;
  count: number;
}

interface MutableSpan {
  from: number;
  to: number;
}

function noWays(most: number): Ways {
  return { at: new Int32Array(most), from: new Int32Array(most), count: 0 };
}

function add(ways: Ways, at: number, from: number): void {
  ways.at[ways.count] = at;
  ways.from[ways.count] = from;
  ways.count += 1;
}

const NOTHING = -1;

/** Ends come in order, so only the last spans can overlap a new one. */
function note(found: MutableSpan[], { from, to }: Span): void {
  if (from === to) return;
  let start = from;
  for (let last = found.at(-1); last !== undefined && start < last.to; last = found.at(-1)) {
    start = Math.min(start, last.from);
    found.pop();
  }
  found.push({ from: start, to });
}
