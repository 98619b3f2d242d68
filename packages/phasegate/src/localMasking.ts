import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_FILES, loadConfig } from './config.ts';
import type { ProjectKeys } from './runtime/keys.ts';
import type { Masking } from './runtime/masking.ts';

/** Keyed by a key of its own, derived from the project's: masks say nothing about seals. */
export async function maskingFor(root: string, keys: ProjectKeys): Promise<Masking> {
  const [{ createMasking }, { hmacOf }] = await Promise.all([
    import('./runtime/masking.ts'),
    import('./runtime/hmac.ts'),
  ]);
  const own = hmacOf(Buffer.from(keys.rows, 'base64url'))('phasegate masked secrets v1');
  return createMasking(hmacOf(Buffer.from(own, 'hex')), await ownPatterns(root));
}

/** Every command asks, and nearly no config has them: its parser is loaded only where the word stands in it. */
async function ownPatterns(root: string): Promise<readonly string[]> {
  const isNamed = CONFIG_FILES.some((name) => {
    try {
      return readFileSync(join(root, name)).includes('secrets');
    } catch {
      return false;
    }
  });
  return isNamed ? (await loadConfig(root)).secrets : [];
}
