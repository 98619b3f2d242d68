import { dirname, isAbsolute } from 'node:path';
import { sharedKeysFile } from './config/sharedKeys.ts';
import { realpathOfExisting } from './config.ts';
import { rememberedShared } from './runtime/keys.ts';

/**
 * The folders that no agent is to see: of the state, around it, where the state of other projects is too, and of what
 * nodes share. A command that a client starts has not the environment of the nodes: the state remembers their keys.
 */
export function ownFolders({
  root,
  stateDir,
  env,
}: {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): readonly string[] {
  const keys = [sharedKeysFile(root, env), rememberedShared(stateDir)].filter((file) => file !== null);
  const measures = env.PHASEGATE_MEASURES ?? '';
  const folders = [
    dirname(stateDir),
    stateDir,
    // A file that is mounted is often a link to another folder.
    ...keys.flatMap((file) => [dirname(file), dirname(realpathOfExisting(file))]),
    ...(isAbsolute(measures) ? [measures] : []),
  ];
  return [...new Set(folders)];
}
