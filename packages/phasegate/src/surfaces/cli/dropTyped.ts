import { closeSync, constants, openSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Cancelled } from './cancelled.ts';

/** Keys that were pressed at something else, or at nothing yet, answer no question. */
export async function dropTyped(input: Readable): Promise<void> {
  const terminal = input as Readable & {
    readonly isTTY?: boolean;
    readonly fd?: number;
    setRawMode?(raw: boolean): unknown;
  };
  let isCancelled = false;
  const drop = (typed: Buffer | string) => {
    isCancelled ||= typed.includes(INTERRUPT);
  };
  // Without it a terminal keeps a line to itself until it is ended.
  if (terminal.isTTY === true) terminal.setRawMode?.(true);
  input.on('data', drop);
  for (let turn = 0; turn < TURNS; turn++) {
    await new Promise((resolve) => setTimeout(resolve, TURN_MS));
    if (terminal.isTTY === true && terminal.fd !== undefined) readHeld(terminal.fd, drop);
  }
  input.off('data', drop);
  input.pause();
  if (terminal.isTTY === true) terminal.setRawMode?.(false);
  if (isCancelled) throw new Cancelled();
}

/**
 * What a terminal took in while it kept lines to itself is not told to one who waits for it, not even when it stops
 * doing so: it comes with the next key. So it is asked for.
 */
function readHeld(fd: number, drop: (typed: Buffer) => void): void {
  let opened: number | undefined;
  try {
    opened = openSync(`/dev/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const held = Buffer.alloc(4096);
    for (let size = readSync(opened, held); size > 0; size = readSync(opened, held))
      drop(held.subarray(0, size));
  } catch {
    // Nothing is held, or this terminal cannot be opened a second time: then what it tells of is all there is.
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

// What a terminal holds is here within this time, and nobody has read a question in it.
const TURNS = 5;
const TURN_MS = 20;
const INTERRUPT = '\u0003';
