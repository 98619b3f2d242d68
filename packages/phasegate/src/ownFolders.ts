import { dirname, isAbsolute } from 'node:path';
import { sharedKeysFile } from './config/sharedKeys.ts';
import { realpathOfExisting } from './config.ts';
import { rememberedShared } from './runtime/keys.ts';

/** Which project, and what it is served with. */
export interface OwnPlace {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The folders that no agent is to see: of the state, around it, where the state of other projects is too, and of what nodes share. */
export function ownFolders(place: OwnPlace): readonly string[] {
  const { stateDir, env } = place;
  const measures = env.PHASEGATE_MEASURES ?? '';
  return [...new Set([dirname(stateDir), ...keyFolders(place), ...(isAbsolute(measures) ? [measures] : [])])];
}

/**
 * The folders with the keys of a project: its state directory, and that of the keys that nodes share. A command that a
 * client starts has not the environment of the nodes: the state remembers their keys.
 */
export function keyFolders({ root, stateDir, env }: OwnPlace): readonly string[] {
  const keys = [sharedKeysFile(root, env), rememberedShared(stateDir)].filter((file) => file !== null);
  // A file that is mounted is often a link to another folder.
  const shared = keys.flatMap((file) => [dirname(file), dirname(realpathOfExisting(file))]);
  return [...new Set([stateDir, ...shared])];
}
