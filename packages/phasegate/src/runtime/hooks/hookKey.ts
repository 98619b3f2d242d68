import { randomBytes, timingSafeEqual } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { own, PhasegateError } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';

/** Where the key of a project's hooks is kept. */
export const HOOK_KEY_FILE = 'hook.key';

/** The key that opens `/hooks` and nothing else; made when it is first asked for, readable by this user alone. */
export function hookKeyOf(stateDir: string): string {
  const file = join(stateDir, HOOK_KEY_FILE);
  const present = read(file);
  if (present !== null) return present;
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `pgh_${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // Whole or not at all, and never over the key of another process that was first.
    linkSync(draft, file);
  } catch (error) {
    if (own(error as object, 'code') !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const made = read(file);
  if (made === null) throw new PhasegateError('store_corrupt', `\`${file}\` could not be made`);
  return made;
}

/** Whether a secret is that key, in a time that tells nothing about it. */
export function isHookKey(stateDir: string, secret: string): boolean {
  const [given, key] = [Buffer.from(secret), Buffer.from(hookKeyOf(stateDir))];
  return given.length === key.length && timingSafeEqual(given, key);
}

function read(file: string): string | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    if (own(cause as object, 'code') === 'ENOENT') return null;
    throw new PhasegateError('file_unreadable', `\`${file}\` cannot be read: ${reasonOf(cause)}`, { cause });
  }
  if (/^pgh_[\w-]{43}$/.test(text)) return text;
  throw new PhasegateError('store_corrupt', `\`${file}\` does not hold a hook key`, {
    hint: 'remove it; a new one is made when it is next needed',
  });
}
