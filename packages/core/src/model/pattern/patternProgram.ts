import { NotLinear, type PatternPlace, type PatternTree } from './patternTree.ts';

/** One step of a match: take a character, go two ways, pass a place, or be done. */
export type Instruction =
  | { readonly kind: 'take'; readonly takes: Takes; next: number }
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'place'; readonly place: PatternPlace; next: number }
  | { readonly kind: 'done' };

/** Whether a character, by its code point, is taken. */
export type Takes = (code: number) => boolean;

/** More would make every character of a text dear. */
const MOST_INSTRUCTIONS = 10_000;

/** The steps a tree stands for; the first is the last of the list. Throws `NotLinear` where there are too many. */
export function programOf(tree: PatternTree): readonly Instruction[] {
  const program: Instruction[] = [{ kind: 'done' }];
  const classes = new Map<string, Takes>();
  const put = (instruction: Instruction): number => {
    if (program.length >= MOST_INSTRUCTIONS) throw new NotLinear('repetitions that make it too large');
    return program.push(instruction) - 1;
  };

  /** Puts what matches the part and then goes on at `next`; gives where it begins. */
  function place(part: PatternTree, next: number): number {
    switch (part.kind) {
      case 'character': {
        const { code } = part;
        return put({ kind: 'take', takes: (found) => found === code, next });
      }
      case 'class': {
        const takes = classes.get(part.source) ?? classOf(part.source);
        classes.set(part.source, takes);
        return put({ kind: 'take', takes, next });
      }
      case 'place':
        return put({ kind: 'place', place: part.place, next });
      case 'sequence':
        return part.parts.reduceRight((then, one) => place(one, then), next);
      case 'choice':
        return part.ways
          .map((way) => place(way, next))
          .reduceRight((second, first) => put({ kind: 'split', first, second }));
      case 'repeated':
        return repeat(part, next);
    }
  }

  function repeat(
    { part, least, most }: Extract<PatternTree, { readonly kind: 'repeated' }>,
    next: number,
  ): number {
    let at = next;
    if (most === Number.POSITIVE_INFINITY) {
      at = put({ kind: 'split', first: next, second: next });
      (program[at] as { first: number }).first = place(part, at);
    } else {
      for (let times = least; times < most; times += 1) {
        const first = place(part, at);
        // What is made of nothing is the same however often it is repeated.
        if (first === at) return next;
        at = put({ kind: 'split', first, second: next });
      }
    }
    for (let times = 0; times < least; times += 1) {
      const first = place(part, at);
      if (first === at) return at;
      at = first;
    }
    return at;
  }

  const first = place(tree, 0);
  // The first step stands last, where a match begins.
  put({ kind: 'split', first, second: first });
  return program;
}

const PLAIN = 128;

/** The language's own meaning of one class, asked about one character at a time. */
function classOf(source: string): Takes {
  const one = new RegExp(`^${source}$`, 'u');
  const plain = new Uint8Array(PLAIN);
  for (let code = 0; code < PLAIN; code += 1) plain[code] = one.test(String.fromCodePoint(code)) ? 1 : 0;
  return (code) => (code < PLAIN ? plain[code] === 1 : one.test(String.fromCodePoint(code)));
}
