import type { Environment } from './environment.ts';

/** Colours, or functions that leave the text as it is. */
export interface Paint {
  /** What tells its codes from those of others; null where there are none. */
  readonly mark: string | null;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** Whether to colour: `--no-color` and NO_COLOR win, then FORCE_COLOR, else only a terminal that can. */
export function wantsColour(env: Environment, terminal: boolean, noColour: boolean): boolean {
  if (noColour || (env.NO_COLOR ?? '') !== '') return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return terminal && env.TERM !== 'dumb';
}

/**
 * The palette. Its codes carry a mark that nobody outside of this process can guess: what is painted holds words of
 * others too, and a colour of theirs must not pass for one of ours. `unmarked` makes them what a terminal knows.
 */
export function paintFor(enabled: boolean): Paint {
  if (!enabled) {
    const plain = (text: string) => text;
    return { mark: null, bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };
  }
  // Asked for here because it takes longer to load than all that a plain `--version` needs.
  const { randomInt } = process.getBuiltinModule('node:crypto');
  const mark = Array.from({ length: 4 }, () => randomInt(1000, 10_000)).join(';');
  const between = (start: number, end: number) => {
    const [open, close] = [`\u001b[${start};${mark}m`, `\u001b[${end};${mark}m`];
    // What is painted inside ends with the same code: the outer colour begins again behind it.
    return (text: string) => `${open}${text.replaceAll(close, `${close}${open}`)}${close}`;
  };
  return {
    mark,
    bold: between(1, 22),
    dim: between(2, 22),
    red: between(31, 39),
    green: between(32, 39),
    yellow: between(33, 39),
    cyan: between(36, 39),
  };
}
