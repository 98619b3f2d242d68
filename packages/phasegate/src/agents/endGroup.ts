/** How long a group may take to end itself after SIGTERM. */
const GRACE_MS = 3000;

/** Ends a process group: asks, waits for the end or for a while, then insists. */
export async function endGroup(leader: number, ended: Promise<unknown>): Promise<void> {
  signalGroup(leader, 'SIGTERM');
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GRACE_MS);
  });
  await Promise.race([ended, grace]);
  clearTimeout(timer);
  // Also where the leader has ended: what it left behind may not go on with its token.
  signalGroup(leader, 'SIGKILL');
  await ended;
}

/** Sends a signal to all of a process group; one that is gone already is not a fault. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // The group is already gone.
  }
}
