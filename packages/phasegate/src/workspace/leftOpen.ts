import { readdirSync, readFileSync } from 'node:fs';

/**
 * Descriptors of this process that every program it starts would inherit, from a number on, in order. Node opens nothing
 * that way itself, and shuts what it is given up to 15. None where there is no /proc.
 */
export function leftOpen(from: number): readonly number[] {
  return openDescriptors()
    .filter((fd) => fd >= from && isLeftOpen(fd))
    .sort((one, other) => one - other);
}

function openDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

function isLeftOpen(fd: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return flags !== '' && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The one the folder was listed by is gone again.
    return false;
  }
}

const CLOSE_ON_EXEC = 0o2000000;
