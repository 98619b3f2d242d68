import { statfsSync } from 'node:fs';

/** The kinds of file systems, by the numbers that Linux has for them; each device is asked for once in a look. */
export interface FileSystems {
  /** Of the device that a place is on; null where nobody can tell. */
  typeOf(device: bigint, place: string): number | null;
}

/** Starts a look. Nothing is kept from one to the next: another file system may have been put in the place of one. */
export function createFileSystems(): FileSystems {
  const known = new Map<bigint, number | null>();
  return {
    typeOf(device, place) {
      const found = known.get(device);
      if (found !== undefined) return found;
      const type = typeAt(place);
      known.set(device, type);
      return type;
    },
  };
}

function typeAt(place: string): number | null {
  try {
    return process.platform === 'linux' ? statfsSync(place).type : null;
  } catch {
    return null;
  }
}
