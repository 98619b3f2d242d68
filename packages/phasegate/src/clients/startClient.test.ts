import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startClient } from './startClient.ts';

test('a client gets the environment it is given and nothing of ours, and its settings beside its own', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'phasegate-start-'));
  const settings = join(cwd, 'settings.json');
  writeFileSync(settings, '{"mine":1,"auth":{"kept":true}}');

  const end = await startClient(
    {
      argv: ['/bin/sh', '-c', 'env | sort; pwd; echo problem >&2; exit 3'],
      environment: { HOME: '/home' },
      folders: [join(cwd, 'made')],
      settings: [{ path: settings, values: { auth: { type: 'key' } } }],
    },
    { cwd, path: '/bin', limitMs: 60_000, environment: { EXTRA: 'yes' } },
  );

  const lines = end.stdout.trim().split('\n');
  expect(lines.filter((line) => !/^(?:_|OLDPWD|PWD|SHLVL)=/.test(line))).toEqual([
    'EXTRA=yes',
    'HOME=/home',
    'LANG=C.UTF-8',
    'PATH=/bin',
    'TERM=dumb',
    cwd,
  ]);
  expect(end).toMatchObject({ code: 3, late: false, stderr: 'problem\n' });
  expect(JSON.parse(readFileSync(settings, 'utf8'))).toEqual({
    mine: 1,
    auth: { kept: true, type: 'key' },
  });
});

test('a client that does not end is ended with all it started, and so is one whose proof is called off', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'phasegate-start-'));
  const launch = {
    argv: ['/bin/sh', '-c', 'sleep 600 & echo $!; wait'] as const,
    environment: {},
    folders: [],
    settings: [],
  };
  const late = await startClient(launch, { cwd, path: '/bin', limitMs: 200 });
  const called = startClient(launch, {
    cwd,
    path: '/bin',
    limitMs: 60_000,
    signal: AbortSignal.timeout(200),
  });

  expect(late).toMatchObject({ code: null, late: true });
  expect(await called).toMatchObject({ code: null, late: false });
  await expect
    .poll(() => {
      try {
        return /^\d+ \(sleep\) Z/.test(readFileSync(`/proc/${Number(late.stdout)}/stat`, 'utf8'))
          ? 'over'
          : 'runs';
      } catch {
        return 'over';
      }
    })
    .toBe('over');
});
