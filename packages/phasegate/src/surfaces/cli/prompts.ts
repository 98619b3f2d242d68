import type { Readable, Writable } from 'node:stream';
import { Cancelled } from './cancelled.ts';
import { visible } from './text/visible.ts';

/** Questions to the one who sits at the terminal. They are written to stderr, so that stdout holds only the result. */
export interface Prompts {
  password(message: string): Promise<string>;
  /** What stands there as a hint is taken where nothing is typed. */
  text(message: string, hint?: string): Promise<string>;
  select(message: string, options: readonly string[]): Promise<string>;
  /**
   * For a choice that counts: what was typed before it was asked is dropped, and the key that takes what stands there
   * takes none of the options. Null where the one who is asked puts it off.
   */
  choose(message: string, options: readonly string[], later: string): Promise<string | null>;
  confirm(message: string): Promise<boolean>;
  /** Drops what was typed before anything was asked. */
  forget(): Promise<void>;
}

/** How often somebody is asked who makes a mistake. */
export const TRIES = 3;

/** A question that is asked again after this many mistakes. */
export function asked(message: string, mistakes: number): string {
  return mistakes === 0 ? message : `${message} (try ${mistakes + 1} of ${TRIES})`;
}

/** Prompts on a terminal; the library is loaded with the first question. */
export function makePrompts(input: Readable, output: Writable & { columns?: number }): Prompts {
  const ask = async <T>(question: (clack: Clack) => Promise<T>): Promise<Exclude<T, symbol>> => {
    const clack = await import('@clack/prompts');
    const answer = await question(clack);
    if (clack.isCancel(answer)) throw new Cancelled();
    return answer as Exclude<T, symbol>;
  };
  const forget = async () => (await import('./dropTyped.ts')).dropTyped(input);
  // A terminal that does not know its size says 0, and every sign of a question would get a line of its own.
  if (output.columns === 0) output.columns = 80;
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
    async choose(message, options, later) {
      await forget();
      // By place: an option may be labelled like the words for none.
      const places = options.map((label, place) => ({ value: place, label: visible(label, null) }));
      const place = await ask((clack) =>
        clack.select<number>({ ...of(message), options: [{ value: -1, label: later }, ...places] }),
      );
      return options[place] ?? null;
    },
    forget,
    confirm: (message) => ask((clack) => clack.confirm({ ...of(message), initialValue: false })),
  };
}

type Clack = typeof import('@clack/prompts');
