import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { createContents } from './contents.ts';
import { quarantinePaths, restorePaths } from './putBackPaths.ts';

const FLIP = join(import.meta.dirname, '../../../../../test/adversary/flip.ts');

/** A folder that things cannot just be renamed to. */
const FAR = ['/dev/shm', '/var/tmp'].find(
  (place) => existsSync(place) && statSync(place).dev !== statSync(tmpdir()).dev,
);

test.runIf(FAR !== undefined)(
  'what is moved to another file system is the thing itself: no content through a link, no waiting at a pipe',
  async () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'aside-')));
    const to = mkdtempSync(`${FAR}/aside-`);
    try {
      writeFileSync(join(base, 'plain'), 'p');
      symlinkSync('/etc/passwd', join(base, 'link'));
      execFileSync('mkfifo', [join(base, 'pipe')]);

      const { done } = await quarantinePaths({ root: base, paths: ['link', 'pipe', 'plain'], to });

      expect(readlinkSync(join(to, 'link'))).toBe('/etc/passwd');
      expect(lstatSync(join(to, 'plain')).isFile()).toBe(true);
      expect(['link', 'pipe', 'plain'].filter((name) => existsSync(join(base, name)))).toEqual([]);
      expect(done.map(({ what }) => what.split(/[ :]/)[0])).toEqual(['moved', 'removed', 'moved']);
    } finally {
      rmSync(to, { recursive: true });
    }
  },
);

test('a folder that is swapped for a link by turns leads neither a restored nor a moved file elsewhere [adv.C2]', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'swap-')));
  const [root, outside] = [join(base, 'project'), join(base, 'outside')];
  for (const folder of [join(root, 'real'), outside]) mkdirSync(folder, { recursive: true });
  for (const name of ['kept.txt', 'came.txt']) writeFileSync(join(outside, name), 'stays');
  symlinkSync(outside, join(root, 'fake'));
  const contents = createContents(join(base, 'contents'));
  const content = hash('sha256', 'as it was', 'hex');
  const keeping = contents.begin();
  keeping.keep(content, Buffer.from('as it was'));
  keeping.end();
  const [device, inode, size, mtime, ctime, links] = [1n, 1n, 9n, 0n, 0n, 1n];
  const was = { type: 'file', mode: 0o644, device, inode, size, mtime, ctime, links, content } as const;
  const entries = new Map([['race/kept.txt', was]]);
  const before = { root: '', started: '0', rules: [], tracked: [], notes: [], entries };
  const flipping = spawn(process.execPath, [
    FLIP,
    ...['race', 'real', 'fake'].map((name) => join(root, name)),
  ]);
  onTestFinished(() => void flipping.kill('SIGKILL'));
  const went = { restored: 0, moved: 0, refused: 0 };
  const counted = (what: 'restored' | 'moved', act: Promise<unknown>) =>
    act.then(
      () => {
        went[what] += 1;
      },
      () => {
        went.refused += 1;
      },
    );

  const rounds = cases({ quick: 300, full: 5000 });
  // On a busy machine all of them may be over before anything was swapped.
  for (let round = 0; round < rounds || (went.refused === 0 && round < rounds * 100); round += 1) {
    // In turns: what is to be restored, and what was not there and is removed or moved aside.
    await counted('restored', restorePaths({ root, contents, paths: ['race/kept.txt'], before }));
    await counted('restored', restorePaths({ root, contents, paths: ['race/came.txt'], before }));
    await counted(
      'moved',
      quarantinePaths({ root, paths: ['race/kept.txt'], to: join(base, `aside/${round}`) }),
    );
  }

  expect(readdirSync(outside)).toEqual(['came.txt', 'kept.txt']);
  for (const name of readdirSync(outside)) expect(readFileSync(join(outside, name), 'utf8')).toBe('stays');
  expect(went.refused).toBeGreaterThan(0);
});
