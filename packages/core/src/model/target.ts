/**
 * A target as it is compared: without space around it, with one spelling for every letter and slash, and without
 * steps that lead nowhere. `./src//a.ts`, `src\\a.ts` and `lib/../src/a.ts ` are all `src/a.ts`. Upper and lower case
 * are kept: on many systems they are two files.
 */
export function normaliseTarget(target: string): string {
  const text = target.trim().normalize('NFC').replaceAll('\\', '/');
  // The two slashes of an address are no empty folder.
  const [scheme = ''] = /^[A-Za-z][\w+.-]*:\/\//.exec(text) ?? [];
  const rest = text.slice(scheme.length);
  const root = scheme === '' && rest.startsWith('/') ? '/' : '';
  const parts: string[] = [];
  for (const part of rest.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..' || (parts.length === 0 ? root + scheme === '' : parts.at(-1) === '..'))
      parts.push(part);
    else parts.pop();
  }
  const path = scheme + root + parts.join('/');
  return path === '' && text !== '' ? '.' : path;
}

/** Whether two runs are about the same; about nothing is one thing too. */
export function sameTarget(one: string | null, other: string | null): boolean {
  return normaliseTarget(one ?? '') === normaliseTarget(other ?? '');
}
