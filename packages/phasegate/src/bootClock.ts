import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { SteadyClock } from './runtime/gateClock.ts';

/** The clock of the machine since it was started, which also root cannot set. */
export const BOOT_CLOCK: SteadyClock = {
  boot() {
    try {
      return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    } catch {
      // Another system than Linux.
      return null;
    }
  },
  sinceBoot: () => uptime() * 1000,
};
