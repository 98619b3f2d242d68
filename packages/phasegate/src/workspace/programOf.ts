import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { RanProgram } from '@phasegate/core/ports';
import { streamRegular } from '../files/streamRegular.ts';

/** Where a program is looked for. */
export interface ProgramPlaces {
  readonly cwd: string;
  readonly path: string | undefined;
  /** Where a path lies on this machine, where it is another one in the program's room. */
  readonly locate?: ((path: string) => string) | undefined;
}

/** The file that is started by that name: its real path and its hash. Nulls where it cannot be told. */
export async function programOf(
  name: string,
  { cwd, path = '', locate = (one) => one }: ProgramPlaces,
): Promise<Pick<RanProgram, 'program' | 'programHash'>> {
  const candidates = name.includes('/')
    ? [isAbsolute(name) ? name : join(cwd, name)]
    : path.split(delimiter).map((folder) => join(folder, name));
  for (const candidate of candidates) {
    try {
      const program = await realpath(locate(candidate));
      await access(program, constants.X_OK);
      if (!(await stat(program)).isFile()) continue;
      return { program, programHash: await hashOf(program) };
    } catch {
      // Not this one.
    }
  }
  return { program: null, programHash: null };
}

const known = new Map<string, { readonly facts: string; readonly sum: Promise<string> }>();

/** Read once for as long as it is the same file: a runtime has a hundred megabytes. */
async function hashOf(program: string): Promise<string> {
  const { dev, ino, size, ctimeNs } = await stat(program, { bigint: true });
  const facts = [dev, ino, size, ctimeNs].join(' ');
  const before = known.get(program);
  if (before?.facts === facts) return before.sum;
  const sum = summed(program);
  known.set(program, { facts, sum });
  return sum;
}

async function summed(program: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const piece of streamRegular(program)) sum.update(piece);
  return sum.digest('hex');
}
