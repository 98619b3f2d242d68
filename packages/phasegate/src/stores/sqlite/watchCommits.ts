import { type CommitListeners, createCommitListeners } from '@phasegate/audit';

/** How often other processes' commits are looked for, in milliseconds. */
const LOOK_EVERY = 200;

/**
 * Listeners that also hear of other processes' commits: those change the version the database shows. It is looked at
 * only while somebody listens. Own commits do not change it; the store tells of them.
 */
export function watchCommits(dataVersion: () => number): CommitListeners {
  let timer: NodeJS.Timeout | undefined;
  let seen = 0;

  function look(): void {
    let version: number;
    try {
      version = dataVersion();
    } catch {
      // A database that cannot be asked is met by the next reader; here it would only end the process.
      return;
    }
    if (version === seen) return;
    seen = version;
    listeners.tell();
  }

  const listeners = createCommitListeners({
    busy() {
      seen = dataVersion();
      timer = setInterval(look, LOOK_EVERY).unref();
    },
    idle() {
      clearInterval(timer);
    },
  });
  return listeners;
}
