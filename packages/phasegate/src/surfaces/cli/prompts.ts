import type { Readable, Writable } from 'node:stream';
import { visible } from './text/visible.ts';
import { usageError } from './usage.ts';

/** Questions to the one who sits at the terminal. They are written to stderr, so that stdout holds only the result. */
export interface Prompts {
  password(message: string): Promise<string>;
  /** What stands there as a hint is taken where nothing is typed. */
  text(message: string, hint?: string): Promise<string>;
  select(message: string, options: readonly string[]): Promise<string>;
  confirm(message: string): Promise<boolean>;
}

/** How often somebody is asked who makes a mistake. */
export const TRIES = 3;

/** A question that is asked again after this many mistakes. */
export function asked(message: string, mistakes: number): string {
  return mistakes === 0 ? message : `${message} (try ${mistakes + 1} of ${TRIES})`;
}

/** Prompts on a terminal; the library is loaded with the first question. */
export function makePrompts(input: Readable, output: Writable): Prompts {
  const ask = async <T>(question: (clack: Clack) => Promise<T>): Promise<Exclude<T, symbol>> => {
    const clack = await import('@clack/prompts');
    const answer = await question(clack);
    if (clack.isCancel(answer)) throw usageError('cancelled: nothing was changed');
    return answer as Exclude<T, symbol>;
  };
  // A question may hold what is in a file that nobody has accepted yet.
  const of = (message: string) => ({ message: visible(message, null), input, output });
  return {
    password: (message) => ask((clack) => clack.password(of(message))),
    text: (message, hint) =>
      ask((clack) =>
        clack.text({
          ...of(message),
          ...(hint === undefined ? {} : { placeholder: hint, defaultValue: hint }),
        }),
      ),
    select: (message, options) =>
      ask((clack) =>
        clack.select<string>({
          ...of(message),
          options: options.map((value) => ({ value, label: visible(value, null) })),
        }),
      ),
    confirm: (message) => ask((clack) => clack.confirm({ ...of(message), initialValue: false })),
  };
}

type Clack = typeof import('@clack/prompts');
