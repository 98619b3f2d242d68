import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** What one process cost, in milliseconds. */
export interface Cost {
  readonly wall: number;
  /** Of all its threads; in steps of 10 ms, so only a sum over many tells something. 0 where there is no /proc. */
  readonly cpu: number;
}

/** Runs one process to its end. */
export async function costOf(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Cost> {
  const before = childrenCpu();
  const start = process.hrtime.bigint();
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  const [code] = await once(child, 'exit');
  const wall = Number(process.hrtime.bigint() - start) / 1e6;
  if (code !== 0) throw new Error(`${words.join(' ')} exited with ${code}`);
  return { wall, cpu: childrenCpu() - before };
}

/** What all processes that were started here and have ended took, in milliseconds. */
function childrenCpu(): number {
  try {
    // The name in brackets may hold spaces; what follows it are numbers.
    const [, rest = ''] = /\) (.*)/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? [];
    const [user, system] = rest.split(' ').slice(13, 15).map(Number);
    return ((user ?? 0) + (system ?? 0)) * TICK_MS;
  } catch {
    return 0;
  }
}

const TICK_MS = 10;
