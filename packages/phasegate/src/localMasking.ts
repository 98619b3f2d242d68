import { join } from 'node:path';
import { CONFIG_FILES, LARGEST_CONFIG, loadConfig } from './config.ts';
import { readRegularIfAny } from './files/readRegular.ts';
import type { ProjectKeys } from './runtime/keys.ts';
import type { Masking } from './runtime/masking.ts';

/** Keyed by a key of its own, derived from the project's: masks say nothing about seals. */
export async function maskingFor(root: string, keys: ProjectKeys): Promise<Masking> {
  const [{ createMasking }, { hmacOf }] = await Promise.all([
    import('./runtime/masking.ts'),
    import('./runtime/hmac.ts'),
  ]);
  const own = hmacOf(Buffer.from(keys.rows, 'base64url'))('phasegate masked secrets v1');
  return createMasking(hmacOf(Buffer.from(own, 'hex')), await ownPatterns(root), wordsOf(keys));
}

/** The project's own keys, in whatever is handed in: what is submitted is shown again. */
function wordsOf({ audit, rows, tokens }: ProjectKeys): readonly string[] {
  const secrets = [tokens.current, tokens.previous].flatMap((one) => (one === null ? [] : [one.secret]));
  return [audit.privateKey, rows, ...secrets];
}

/** Every command asks, and nearly no config has them: its parser is loaded only where the word stands in it. */
async function ownPatterns(root: string): Promise<readonly string[]> {
  // What cannot be read is told by those who need it.
  const bytesOf = (name: string) =>
    readRegularIfAny(join(root, name), { most: LARGEST_CONFIG, links: 'follow' });
  const isNamed = CONFIG_FILES.some((name) => bytesOf(name)?.includes('secrets'));
  return isNamed ? (await loadConfig(root)).secrets : [];
}
