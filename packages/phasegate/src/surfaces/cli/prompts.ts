import type { Readable, Writable } from 'node:stream';
import { visible } from './text/visible.ts';
import { usageError } from './usage.ts';

/** Questions to the one who sits at the terminal. They are written to stderr, so that stdout holds only the result. */
export interface Prompts {
  password(message: string): Promise<string>;
  text(message: string, initial?: string): Promise<string>;
  select(message: string, options: readonly string[]): Promise<string>;
  confirm(message: string): Promise<boolean>;
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
    text: (message, initial) =>
      ask((clack) =>
        clack.text({ ...of(message), ...(initial === undefined ? {} : { initialValue: initial }) }),
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
