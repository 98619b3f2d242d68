import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const onLinux = test.runIf(process.platform === 'linux');

onLinux.each([
  ['nobody named', [], {}, 'closed'],
  ['the command line names', ['decide', '--passphrase-fd', '63'], {}, 'open'],
  ['the command line names in one word', ['humans', '--new-passphrase-fd=63'], {}, 'open'],
  ['stands as a file on the command line', ['done', '--evidence', '/dev/fd/63'], {}, 'open'],
  ['an agent was handed', ['next'], { PHASEGATE_CREDENTIALS_FD: '63' }, 'open'],
  ['has a number that only looks named', ['start', '63'], {}, 'closed'],
] as const)('a descriptor that %s: what is started finds it as it should', (_name, argv, env, found) => {
  const script = `
    import { spawnSync } from 'node:child_process';
    import { closeInherited } from ${JSON.stringify(new URL('./closeInherited.ts', import.meta.url).href)};
    closeInherited(${JSON.stringify(argv)}, ${JSON.stringify(env)});
    spawnSync('bash', ['-c', 'if [ -e /proc/self/fd/63 ]; then echo open; else echo closed; fi'], { stdio: 'inherit' });
  `;
  const file = join(mkdtempSync(join(tmpdir(), 'phasegate-fd-')), 'secret');
  writeFileSync(file, 'correct horse');
  const child = spawnSync(
    'bash',
    ['-c', 'exec "$0" --input-type=module -e "$1" 63<"$2"', process.execPath, script, file],
    { encoding: 'utf8' },
  );

  expect([child.stderr, child.stdout.trim()]).toEqual(['', found]);
});
