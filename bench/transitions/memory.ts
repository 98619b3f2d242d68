import { statSync } from 'node:fs';
import { folder } from './measure.ts';
import { openWorkload } from './workload.ts';

/** What many started runs cost in memory and on disk. */
export async function memoryPerRun(
  runs: number,
): Promise<{ runs: number; heapPerRun: number; diskPerRun: number }> {
  const workload = await openWorkload(folder());
  await workload.start(1);
  collect();
  const [heap, disk] = [process.memoryUsage().heapUsed, size(workload.file)];
  await workload.start(runs);
  collect();
  const heapPerRun = Math.max(0, process.memoryUsage().heapUsed - heap) / runs;
  const diskPerRun = (size(workload.file) - disk) / runs;
  await workload.close();
  return { runs, heapPerRun, diskPerRun };
}

function collect(): void {
  // `--expose-gc` is given by `npm run bench`; without it the number is an upper bound.
  globalThis.gc?.();
}

function size(file: string): number {
  return ['', '-wal'].reduce(
    (sum, suffix) => sum + (statSync(file + suffix, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
