import type { Environment } from './environment.ts';

/** Colours, or functions that leave the text as it is. */
export interface Paint {
  readonly enabled: boolean;
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

/** The palette; the library is loaded only where colours are in use. */
export async function paintFor(enabled: boolean): Promise<Paint> {
  if (!enabled) {
    const plain = (text: string) => text;
    return { enabled, bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };
  }
  const { default: picocolors } = await import('picocolors');
  const { bold, dim, red, green, yellow, cyan } = picocolors.createColors(true);
  return { enabled, bold, dim, red, green, yellow, cyan };
}
