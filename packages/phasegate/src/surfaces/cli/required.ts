import type { Arguments } from './command.ts';
import { usageError } from './usage.ts';

/** The value of an option that must be given. */
export function required(args: Arguments, option: string): string {
  const value = args.text(option);
  if (value === undefined || value.trim() === '') {
    throw usageError(`\`--${option}\` is missing`, `add \`--${option} TEXT\``);
  }
  return value;
}
