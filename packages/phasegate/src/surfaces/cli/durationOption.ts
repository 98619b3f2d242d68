import { parseDuration } from '@phasegate/core/model';
import type { Arguments } from './command.ts';
import { usageError } from './usage.ts';

/** The value of an option that is a time such as `90s` or `1h`. */
export function durationOption(
  args: Pick<Arguments, 'text'>,
  name: string,
  otherwise: string,
): { readonly text: string; readonly ms: number } {
  const text = args.text(name) ?? otherwise;
  const seconds = parseDuration(text);
  if (seconds === null)
    throw usageError(`\`--${name}\` needs a time such as \`90s\`, \`30m\` or \`1h\`, not \`${text}\``);
  return { text, ms: seconds * 1000 };
}
