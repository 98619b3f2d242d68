import { closeSync, constants, openSync, readSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { visible } from './text/visible.ts';
import { usageError } from './usage.ts';

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
    if (clack.isCancel(answer)) throw usageError('cancelled: nothing was changed');
    return answer as Exclude<T, symbol>;
  };
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
      await dropTyped(input);
      // By place: an option may be labelled like the words for none.
      const places = options.map((label, place) => ({ value: place, label: visible(label, null) }));
      const place = await ask((clack) =>
        clack.select<number>({ ...of(message), options: [{ value: -1, label: later }, ...places] }),
      );
      return options[place] ?? null;
    },
    forget: () => dropTyped(input),
    confirm: (message) => ask((clack) => clack.confirm({ ...of(message), initialValue: false })),
  };
}

/** Keys that were pressed at something else, or at nothing yet, answer no question. */
async function dropTyped(input: Readable): Promise<void> {
  const terminal = input as Readable & {
    readonly isTTY?: boolean;
    readonly fd?: number;
    setRawMode?(raw: boolean): unknown;
  };
  let isCancelled = false;
  const drop = (typed: Buffer | string) => {
    isCancelled ||= typed.includes(INTERRUPT);
  };
  // Without it a terminal keeps a line to itself until it is ended.
  if (terminal.isTTY === true) terminal.setRawMode?.(true);
  input.on('data', drop);
  for (let turn = 0; turn < TURNS; turn++) {
    await new Promise((resolve) => setTimeout(resolve, TURN_MS));
    if (terminal.isTTY === true && terminal.fd !== undefined) readHeld(terminal.fd, drop);
  }
  input.off('data', drop);
  input.pause();
  if (terminal.isTTY === true) terminal.setRawMode?.(false);
  if (isCancelled) throw usageError('cancelled: nothing was changed');
}

/**
 * What a terminal took in while it kept lines to itself is not told to one who waits for it, not even when it stops
 * doing so: it comes with the next key. So it is asked for.
 */
function readHeld(fd: number, drop: (typed: Buffer) => void): void {
  let opened: number | undefined;
  try {
    opened = openSync(`/dev/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const held = Buffer.alloc(4096);
    for (let size = readSync(opened, held); size > 0; size = readSync(opened, held))
      drop(held.subarray(0, size));
  } catch {
    // Nothing is held, or this terminal cannot be opened a second time: then what it tells of is all there is.
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

// What a terminal holds is here within this time, and nobody has read a question in it.
const TURNS = 5;
const TURN_MS = 20;
const INTERRUPT = '\u0003';

type Clack = typeof import('@clack/prompts');
