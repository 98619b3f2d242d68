import type { ServerEntry } from '../../../runtime/ports.ts';

/** Where a server is and how long it stays. */
export function describeServer({ url, pid, idle_ms }: ServerEntry): string {
  const stays = idle_ms === undefined ? '' : `, ends after ${spanOf(idle_ms)} without use`;
  return `${url} (process ${pid}${stays})`;
}

function spanOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
