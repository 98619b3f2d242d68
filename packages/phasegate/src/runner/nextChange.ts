import type { DriveRequest } from '../runtime/ports.ts';

/** A gate's time may be up without anybody saying so. */
const LOOK_AGAIN_MS = 15_000;

/** Waits until something happens to the run, in this process or another, for a while at most. */
export function nextChange({ open, run }: DriveRequest, after: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      stop();
      resolve();
    };
    const timer = setTimeout(done, LOOK_AGAIN_MS);
    const stop = open.feed.subscribe(
      (record) => {
        if (record.run === run) done();
      },
      { after },
    );
    signal.addEventListener('abort', done, { once: true });
  });
}
