import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import type { OpenProject } from '../../runtime/ports.ts';
import type { Invocation } from './command.ts';

/**
 * The project's state for the one who only looks at what is recorded; null where there is none, as opening it would make
 * it. Says what is not looked at.
 */
export async function stateHere({ project, open, env, out }: Invocation): Promise<OpenProject | null> {
  if ((env.PHASEGATE_URL ?? '') !== '') {
    await out.log('note: only runs recorded here are looked at, not those of the server in PHASEGATE_URL');
  }
  const found = await project();
  let stateDir: string;
  try {
    stateDir = found.stateDir;
  } catch (error) {
    if (!(error instanceof PhasegateError)) throw error;
    await out.log(`note: recorded runs are not looked at: ${error.message}`);
    return null;
  }
  // `made` without a database is a lost one, and opening it says so.
  return ['state.db', 'made'].some((name) => existsSync(join(stateDir, name))) ? open() : null;
}
