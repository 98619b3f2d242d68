import { closeSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Closes what this process was left with and nobody named: a descriptor that a shell opened for an earlier command would
 * be inherited by everything that is started here, and can be read under /proc. To be called before anything is opened.
 * Where there is no /proc, descriptors that a command line names are still closed when they were read.
 */
export function closeInherited(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const named = namedDescriptors(argv, env);
  for (const fd of openDescriptors()) {
    if (fd > 2 && !named.has(fd) && isLeftOpen(fd)) closeSync(fd);
  }
}

function namedDescriptors(
  argv: readonly string[],
  { PHASEGATE_CREDENTIALS_FD: handed = '' }: Readonly<Record<string, string | undefined>>,
): ReadonlySet<number> {
  const options = argv.flatMap((word, index) => {
    const [found, value] = /^--(?:new-)?passphrase-fd(?:=(.*))?$/s.exec(word) ?? [];
    return found === undefined ? [] : [value ?? argv[index + 1] ?? ''];
  });
  // A shell gives what a command prints as a file of this name: `--evidence <(node report.js)`.
  const files = argv.flatMap((word) => /\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(word)?.[1] ?? []);
  return new Set([...options, ...files, handed].filter((text) => /^\d{1,4}$/.test(text)).map(Number));
}

function openDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

/** Whether programs we start would get it. Node opens nothing that way itself, and shuts what it is given up to 15. */
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
