import { mkdir, realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { openFolderBeneath } from '../workspace/openFolderBeneath.ts';
import { PathRefused } from '../workspace/pathRefused.ts';
import { readBeneath } from '../workspace/readBeneath.ts';
import { deleteBeneath, writeBeneath } from '../workspace/writeBeneath.ts';

// Sub-agents work in folders of the state directory, so what lies there may have become a link to anywhere. Nothing of
// it is written, removed or read through one.

/** Makes a folder of the state directory, where it is missing. */
export async function makeStateFolder(stateDir: string, folder: string): Promise<void> {
  await beneath(stateDir, folder, async (root, path) => {
    await (await openFolderBeneath(root, path, { make: true })).close();
  });
}

/** Writes a file of the state directory, for this user only, with the folders it lies in. */
export async function writeStateFile(stateDir: string, file: string, text: string): Promise<void> {
  await beneath(stateDir, file, async (root, path) => {
    const content = Buffer.from(text);
    await writeBeneath({ root, path, content, how: 'replace', mode: 0o600, mayWrite: () => true });
  });
}

/** Removes a file of the state directory, where it is there. */
export async function removeStateFile(stateDir: string, file: string): Promise<void> {
  await beneath(stateDir, file, async (root, path) => {
    await deleteBeneath({ root, path, mayWrite: () => true }).catch(unlessMissing);
  });
}

/** The text of a file of the state directory; null where it is not there. */
export async function readStateFile(stateDir: string, file: string): Promise<string | null> {
  return beneath(stateDir, file, async (root, path) => {
    const read = await readBeneath(root, path, LARGEST).catch(unlessMissing);
    return read === null ? null : read.content.toString('utf8');
  });
}

const LARGEST = 1024 * 1024;

async function beneath<Value>(
  stateDir: string,
  place: string,
  work: (root: string, path: string) => Promise<Value>,
): Promise<Value> {
  try {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    return await work(await realpath(stateDir), relative(stateDir, place));
  } catch (error) {
    if (!(error instanceof PathRefused)) throw error;
    throw new PhasegateError('path_outside', `\`${place}\` is not used: ${error.message}`, {
      cause: error,
      hint: 'look who put it there, and remove it',
    });
  }
}

function unlessMissing(error: unknown): null {
  if (error instanceof PathRefused && error.code === 'path_not_found') return null;
  throw error;
}
