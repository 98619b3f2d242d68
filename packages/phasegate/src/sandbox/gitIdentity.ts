import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A config for git that says who the user is, as their own does; null where it does not. */
export function identityIn(home: string): string | null {
  let text: string;
  try {
    text = readFileSync(join(home, '.gitconfig'), 'utf8');
  } catch {
    return null;
  }
  const found = new Map<string, string>();
  let section = '';
  for (const line of text.split('\n')) {
    section = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1]?.toLowerCase() ?? section;
    const [, key = '', value = ''] = /^\s*(name|email)\s*=\s*(.*?)\s*$/i.exec(line) ?? [];
    if (section === 'user' && value !== '') found.set(key.toLowerCase(), value.replace(/^"(.*)"$/, '$1'));
  }
  if (found.size === 0) return null;
  return `[user]\n${[...found].map(([key, value]) => `\t${key} = ${quoted(value)}\n`).join('')}`;
}

/** A value with a backslash or a quote in it means something else to git; few names have one. */
function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, '')}"`;
}
