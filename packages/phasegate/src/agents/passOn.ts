import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { oneLine } from '@phasegate/core/model';

/** What a program prints, on its way to where it is shown. */
export interface PassedOn {
  /** The last lines of it, those of the last stream first of all, without what a terminal would obey. */
  lastLines(): readonly string[];
  /** Settles when all of it was passed on. What outlives the program may print later: that is not waited for. */
  settled(): Promise<void>;
}

/** Passes on what a program prints to a file descriptor, at the pace it is taken, and keeps its end. */
export function passOn(streams: readonly (Readable | null)[], fd: number): PassedOn {
  const file = fd === 2 ? null : createWriteStream('', { fd });
  // A disk that is full loses what is printed, not the agent.
  file?.on('error', () => undefined);
  const to = file ?? process.stderr;
  const kept = streams.map(() => Buffer.alloc(0));
  const passing = streams.map(async (stream, index) => {
    if (stream === null) return;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      kept[index] = Buffer.concat([kept[index] ?? chunk.subarray(0, 0), chunk]).subarray(-MOST_BYTES);
      await new Promise<void>((taken) => {
        // Where nobody reads any more, the program goes on all the same.
        to.write(chunk, () => taken());
      });
    }
  });
  const all = Promise.allSettled(passing).then(() => file?.end());
  return {
    lastLines: () =>
      kept
        .flatMap((end) => end.toString('utf8').split('\n'))
        .map((line) => oneLine(line).trimEnd())
        .filter((line) => line !== '')
        .slice(-MOST_LINES),
    async settled() {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), LATE_MS);
      await Promise.race([all, once(late.signal, 'abort')]);
      clearTimeout(timer);
      for (const stream of streams) (stream as Socket | null)?.unref?.();
    },
  };
}

const MOST_BYTES = 4000;
const MOST_LINES = 5;
const LATE_MS = 500;
