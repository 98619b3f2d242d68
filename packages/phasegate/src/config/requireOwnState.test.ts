import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLocalProject } from '../localProject.ts';

type Spoil = (stateDir: string, elsewhere: string) => void;

const SPOILED: readonly (readonly [string, Spoil, RegExp])[] = [
  [
    'a linked database',
    (stateDir, elsewhere) => {
      renameSync(join(stateDir, 'state.db'), join(elsewhere, 'state.db'));
      symlinkSync(join(elsewhere, 'state.db'), join(stateDir, 'state.db'));
    },
    /state\.db` is a link or not a file, so its state cannot be trusted$/,
  ],
  [
    'a linked journal',
    (stateDir, elsewhere) => {
      rmSync(join(stateDir, 'state.db-wal'), { force: true });
      writeFileSync(join(elsewhere, 'wal'), '');
      symlinkSync(join(elsewhere, 'wal'), join(stateDir, 'state.db-wal'));
    },
    /state\.db-wal` is a link/,
  ],
  [
    'linked keys',
    (stateDir, elsewhere) => {
      renameSync(join(stateDir, 'keys.json'), join(elsewhere, 'keys.json'));
      symlinkSync(join(elsewhere, 'keys.json'), join(stateDir, 'keys.json'));
    },
    /keys\.json` is a link/,
  ],
  ['a folder that everybody can write', (stateDir) => chmodSync(stateDir, 0o777), /can be written by others/],
  ['a folder that a group can write', (stateDir) => chmodSync(stateDir, 0o770), /can be written by others/],
  [
    'a database that others can write',
    (stateDir) => {
      chmodSync(stateDir, 0o755);
      chmodSync(join(stateDir, 'state.db'), 0o666);
    },
    /state\.db` can be written by others/,
  ],
  [
    'a folder that is a link',
    (stateDir, elsewhere) => {
      renameSync(stateDir, join(elsewhere, 'state'));
      symlinkSync(join(elsewhere, 'state'), stateDir);
    },
    /is a link or not a folder/,
  ],
];

test.each(SPOILED)('%s is refused, with the way on [adv.Q8]', async (_, spoil, message) => {
  const { project, elsewhere } = await withState();
  spoil(project.stateDir, elsewhere);

  await expect(project.open()).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(message),
    hint: expect.stringMatching(/chmod|in its place/),
  });
  await expect(project.rotateTokenSecret()).rejects.toMatchObject({ code: 'store_unavailable' });
});

test.runIf(process.getuid?.() === 0)('a folder of another user is refused, with the way on', async () => {
  const { project } = await withState();
  chownSync(project.stateDir, 12345, 12345);

  await expect(project.open()).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('belongs to user 12345'),
    hint: expect.stringContaining('XDG_STATE_HOME'),
  });
});

async function withState() {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-owner-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [root, elsewhere] = [join(base, 'project'), join(base, 'elsewhere')];
  mkdirSync(root);
  mkdirSync(elsewhere);
  const env = { HOME: base, XDG_STATE_HOME: join(base, 'state') };
  const project = await openLocalProject({ projectDir: root, env });
  await (await project.open()).close();
  expect(existsSync(join(project.stateDir, 'state.db'))).toBe(true);
  return { project, elsewhere };
}
