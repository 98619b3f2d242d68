import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { settingsIn } from '../workspace/gitConfigText.ts';
import { readBeneath } from '../workspace/readBeneath.ts';

/**
 * Refuses a clone out of which git would take what is not in it, or for which it would start a program: before anything
 * is fetched from where an agent worked.
 */
export async function demandPlainClone(folder: string): Promise<void> {
  const own = join(folder, '.git');
  for (const place of [folder, own, join(own, 'objects')])
    if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw notPlain('its `.git` is not a folder of its own');
  for (const name of ['commondir', 'objects/info/alternates', 'objects/info/http-alternates'])
    if (lstatSync(join(own, name), { throwIfNoEntry: false }) !== undefined)
      throw notPlain(`its \`.git/${name}\` leads to another repository`);
  const objects = readdirSync(join(own, 'objects'), { recursive: true, withFileTypes: true });
  if (objects.some((entry) => !entry.isFile() && !entry.isDirectory()))
    throw notPlain('what is in its `.git/objects` is not all files');
  const { content } = await readBeneath(realpathSync(folder), '.git/config', LARGEST_CONFIG);
  const settings = settingsIn(content);
  if (settings === null) throw notPlain('its `.git/config` cannot be read');
  const wrong = settings.find(({ key }) => LEADS_ELSEWHERE.test(key));
  if (wrong !== undefined) throw notPlain('its `.git/config` leads to other settings, objects or programs');
}

function notPlain(why: string): PhasegateError {
  return new PhasegateError('worktree_failed', `nothing is taken from the clone: ${why}`);
}

/** What a git that only hands out objects would obey. */
const LEADS_ELSEWHERE =
  /^(?:include\.|includeif\.|uploadpack\.|extensions\.(?!objectformat$)|core\.(?:worktree|alternaterefscommand)$|remote\..*\.(?:promisor|partialclonefilter|uploadpack|vcs)$)/is;
const LARGEST_CONFIG = 1_000_000;
