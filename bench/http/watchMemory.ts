import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { folder } from '../transitions/measure.ts';

/** What a process has of memory when what nobody uses was cleared away. */
export interface Memory {
  readonly used: number;
  readonly rss: number;
}

/** Looks into the memory of a server that was started with these. */
export interface MemoryWatch {
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  look(pid: number): Promise<Memory>;
  close(): void;
}

/** Makes one, for one server. */
export function watchMemory(): MemoryWatch {
  const at = folder();
  const file = join(at, 'memory');
  return {
    flags: ['--expose-gc', '--import', join(import.meta.dirname, 'memoryProbe.mjs')],
    env: { BENCH_MEMORY_FILE: file },
    async look(pid) {
      rmSync(file, { force: true });
      process.kill(pid, 'SIGUSR2');
      for (;;) {
        try {
          return JSON.parse(readFileSync(file, 'utf8')) as Memory;
        } catch {
          // Not written yet.
          await wait(20);
        }
      }
    },
    close: () => rmSync(at, { recursive: true }),
  };
}
