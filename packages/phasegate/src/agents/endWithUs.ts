import { spawn } from 'node:child_process';

/**
 * Sees to it that a process group ends when this process does, also where it is killed and cannot see to it itself: a
 * small shell waits for the end of a pipe that only we hold, and then kills the group. Gives a function that calls it
 * off.
 */
export function endWithUs(leader: number): () => void {
  const watcher = spawn(
    '/bin/sh',
    ['-c', 'read word && exit 0; kill -s KILL -- "-$1"', 'sh', String(leader)],
    {
      // Of its own group: what ends the others must not end it first.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
    },
  );
  // Where no shell can be started, the end of this process still ends the group as far as it gets to say so.
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  return () => void watcher.stdin.end('done\n');
}
