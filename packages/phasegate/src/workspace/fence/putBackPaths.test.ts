import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quarantinePaths } from './putBackPaths.ts';

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
