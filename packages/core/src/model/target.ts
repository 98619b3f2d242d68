import { withoutUnseen } from './oneLine.ts';
import { quoted } from './wording.ts';

/**
 * A target as it is shown: without space around it, with one spelling for every letter and slash, and without
 * steps that lead nowhere. `./src//a.ts`, `src\\a.ts` and `lib/../src/a.ts ` are all `src/a.ts`. Upper and lower case
 * are kept: on many systems they are two files.
 */
export function normaliseTarget(target: string): string {
  const text = target.trim().normalize('NFC').replaceAll('\\', '/');
  // The two slashes of an address are not an empty folder.
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
  return targetKey(one) === targetKey(other);
}

/** The text under which all targets of the same thing are found, and no others. */
export function targetKey(target: string | null): string {
  return compared(target ?? '');
}

/** Why a run cannot be about it; null where it can. In a line of ours it would read as a line of its own. */
export function targetProblem(target: string): string | null {
  if (!CONTROL.test(target)) return null;
  return `the target ${quoted(target)} has a line end, half a character or another control character in it; leave those out`;
}

/**
 * A target as one of the project with this root: a path that leads into it from elsewhere is as if written from the
 * root. All others stay as they are.
 */
export function targetWithin(root: string, target: string): string {
  for (const form of [normaliseTarget, compared]) {
    const base = form(root);
    const path = form(target);
    const leaves = path === '..' || path.startsWith('../');
    const whole = leaves ? normaliseTarget(`${base}/${path}`) : path;
    if (whole === base) return '.';
    if (whole.startsWith(`${base}/`)) return whole.slice(base.length + 1);
  }
  return target;
}

// Half a character is stored as another one: two targets would be one.
const CONTROL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * More is the same to compare than to show: what cannot be seen, and letters that are others in another dress, make
 * no other target. Left out twice: one may hide another, and some appear only when the dress is taken off.
 */
function compared(target: string): string {
  return normaliseTarget(withoutUnseen(withoutUnseen(spaced(target)).normalize('NFKC')));
}

/** Spaces of every width are one; some are no part of NFKC. */
function spaced(target: string): string {
  return target.replace(/\p{Zs}/gu, ' ');
}
