// The guard of a runner: a process of its own that outlives the runner for as long as it takes to end what the runner
// had started. Its words are a lock file, the mark of what its runner starts, and the mark of what the runner before
// left behind, where there was one. It is told `+PID` and `-PID` of process groups on standard input, and `bye`.
import { setTimeout as pause } from 'node:timers/promises';
import { endAll } from './endAll.ts';
import { type FileLock, lockFile } from './lockFile.ts';

const [, , file = '', mark = '', leftBehind = ''] = process.argv;
/** How long the guard of the runner before may take to end what that one had started. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 20;

// Anyone who ends the runner with a signal to all of its processes must not end the guard first.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

/** INVARIANT: a lock that is had means that nothing of the runner before is running any more. */
async function takeLock(): Promise<FileLock | null> {
  for (const end = performance.now() + PATIENCE_MS; ; await pause(LOOK_MS)) {
    const lock = lockFile(file);
    if (lock !== null || performance.now() > end) return lock;
  }
}

const groups = new Set<number>();

/** True when the runner took its leave; false when it is just gone. */
async function follow(): Promise<boolean> {
  let rest = '';
  for await (const chunk of process.stdin) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const group = Number(line.slice(1));
      if (line.startsWith('+')) groups.add(group);
      else if (line.startsWith('-')) groups.delete(group);
      else if (line === 'bye') return true;
    }
  }
  return false;
}

const lock = await takeLock();
if (lock === null) {
  process.stdout.write('busy\n');
} else {
  // A runner that was killed together with its guard: what it started has its mark.
  if (leftBehind !== '') await endAll([], leftBehind);
  process.stdout.write('ready\n');
  if (!(await follow())) await endAll([...groups], mark);
  lock.release();
}
process.exit(0);
