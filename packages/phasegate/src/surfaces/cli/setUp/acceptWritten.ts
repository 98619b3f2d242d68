import type { People, UnlockedHuman } from '../../../runtime/ports.ts';
import type { MissingFile } from '../writeMissing.ts';

/**
 * Accepts the guarded files that hold what was just written, for the human in whose name it was: they would be asked
 * about each by the next program. INVARIANT: by their content. What somebody else put there since is not accepted.
 */
export async function acceptWritten(
  { trust }: Pick<People, 'trust'>,
  human: UnlockedHuman,
  written: readonly Pick<MissingFile, 'path' | 'text'>[],
): Promise<void> {
  for (const { path, change, hash } of await trust.guarded.cards()) {
    const file = written.find((one) => one.path === path);
    if (file === undefined || change === 'removed') continue;
    const { after } = await trust.guarded.texts({ path, hash });
    if (after === file.text) await trust.guarded.accept(path, hash, human);
  }
}
