import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createBubblewrap } from './bubblewrap.ts';
import { findBubblewrap } from './bubblewrapState.ts';
import { folderWith, SANDBOXES, scopeOf } from './fixtures/enclosing.ts';

const NO_NAMESPACES = 'echo 0 > /proc/sys/user/max_user_namespaces';
/** In a namespace of its own a test can forbid further ones to itself. */
const FORBIDDEN = SANDBOXES && spawnSync('unshare', ['-Ur', 'sh', '-c', NO_NAMESPACES]).status === 0;

describe('where there is no bubblewrap', () => {
  test('it is said what to do, and no program is run', async () => {
    const missing = await findBubblewrap(['/nowhere/bwrap']);
    expect(missing.state).toMatchObject({ works: false, reason: 'bubblewrap is not installed' });
    const sandbox = createBubblewrap(
      async () => ({ hidden: [], read: [], write: [], hosts: [], home: undefined }),
      async () => missing,
    );

    const asked = sandbox.enclose({ argv: ['true'], cwd: '/', environment: {} }, scopeOf('/', []));

    await expect(asked).rejects.toMatchObject({ code: 'sandbox_unavailable' });
    await expect(asked).rejects.toThrow('apt-get install bubblewrap');
  });

  test.runIf(FORBIDDEN)('where the kernel forbids user namespaces it says so, and what to do', () => {
    const state = join(import.meta.dirname, 'bubblewrapState.ts');
    const program = `const { findBubblewrap } = await import(${JSON.stringify(state)}); console.log(JSON.stringify((await findBubblewrap()).state));`;
    const line = `${NO_NAMESPACES} && exec "$0" --input-type=module -e "$1"`;

    const { stdout } = spawnSync('unshare', ['-Ur', 'sh', '-c', line, process.execPath, program], {
      encoding: 'utf8',
    });

    expect(JSON.parse(stdout)).toMatchObject({
      works: false,
      reason: expect.stringMatching(/namespace/),
      nextStep: expect.stringContaining('user namespaces'),
    });
  });

  test('one that may make no namespaces, is too old, or is for another system is not taken', async () => {
    const folder = join(folderWith({}), '..');
    const program = (name: string, text: string) => {
      const place = join(folder, name);
      writeFileSync(place, `#!/bin/sh\n${text}\n`);
      chmodSync(place, 0o755);
      return place;
    };
    const old = program('old', 'echo "--bind SRC DEST"');
    const refused = program(
      'refused',
      'case "$1" in --help) echo "--bind-fd --disable-userns";; *) echo "bwrap: No permissions to create new namespace" >&2; exit 1;; esac',
    );

    expect((await findBubblewrap([old])).state).toMatchObject({ reason: expect.stringContaining('too old') });
    expect((await findBubblewrap([refused])).state).toMatchObject({
      reason: expect.stringContaining('No permissions to create new namespace'),
      nextStep: expect.stringContaining('user namespaces'),
    });
    expect((await findBubblewrap(undefined, 'darwin')).state).toMatchObject({ works: false });
  });
});
