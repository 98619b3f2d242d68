import { join } from 'node:path';
import { readRegularIfAny } from '../files/readRegular.ts';
import { settingsIn } from '../workspace/gitConfigText.ts';

/** Larger than anybody's. */
const LARGEST = 2 * 1024 * 1024;

/** A config for git that says who the user is, as their own does; null where it does not. */
export function identityIn(home: string): string | null {
  const bytes = readRegularIfAny(join(home, '.gitconfig'), { most: LARGEST, links: 'follow' });
  if (bytes === null) return null;
  const found = new Map<string, string>();
  for (const { key, value } of settingsIn(bytes) ?? [])
    if ((key === 'user.name' || key === 'user.email') && value !== null && value !== '')
      found.set(key.slice('user.'.length), Buffer.from(value, 'latin1').toString('utf8'));
  if (found.size === 0) return null;
  return `[user]\n${[...found].map(([key, value]) => `\t${key} = ${quoted(value)}\n`).join('')}`;
}

/** A value with a backslash, a quote or a line's end in it means something else to git; few names have one. */
function quoted(value: string): string {
  return `"${value.replace(/["\\\p{Cc}]/gu, '')}"`;
}
