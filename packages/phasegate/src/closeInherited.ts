import { closeSync } from 'node:fs';
import { leftOpen } from './workspace/leftOpen.ts';

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
  for (const fd of leftOpen(NOT_SHUT_BY_NODE)) {
    if (!named.has(fd)) closeSync(fd);
  }
}

/** Node shuts all below for what is started, and has most of its own there. */
const NOT_SHUT_BY_NODE = 16;

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
