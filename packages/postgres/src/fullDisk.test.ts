import { execFileSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { atEndOfFile } from '../../../test/atEndOfFile.ts';
import { startServer } from '../../../test/postgres/startServer.ts';
import { FULL } from '../../../test/tier.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

const { sampleRun } = samplesWith((text) => hash('sha256', text));
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** A file system of a few megabytes, which only root can mount. */
function smallDisk(place: string, owner: { readonly uid: number; readonly gid: number }): void {
  mkdirSync(place);
  execFileSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=12m,uid=${owner.uid},gid=${owner.gid},mode=700`,
    'tmpfs',
    place,
  ]);
}

test.runIf(FULL && isRoot)(
  'a database that fills its disk refuses what it cannot keep, loses nothing, and goes on when there is room',
  async () => {
    const server = await startServer();
    const place = join(server.folder, 'small');
    smallDisk(place, statSync(server.folder));
    atEndOfFile(async () => {
      await server.stop();
      execFileSync('umount', [place]);
      await server.remove();
    });
    await tamper(server.url(), `CREATE TABLESPACE small LOCATION '${place}'`);
    await tamper(server.url(), 'ALTER DATABASE postgres SET default_tablespace = small');
    const node = await openNode(server.url(), testSeal());
    await create(node, sampleRun('r1'));
    const ballast = join(place, 'ballast');
    writeFileSync(ballast, Buffer.alloc(4 * 1024 * 1024));
    let kept = 0;
    const fill = async () => {
      for (; kept < 1000; kept += 1) {
        const noise = randomBytes(20_000).toString('base64');
        await node.note('r1', [{ ...sampleDraft('tool_judged'), data: { noise } }]);
      }
    };

    await expect(fill()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('its disk is full'),
      hint: expect.stringContaining('make room'),
    });
    expect(kept).toBeGreaterThan(0);
    expect((await node.verify()).findings).toEqual([]);
    const before = (await node.history('r1', { after: 0, limit: 2000 })).length;

    rmSync(ballast);
    expect(await node.note('r1', [sampleDraft('tool_judged')])).toBe(true);
    expect((await node.history('r1', { after: 0, limit: 2000 })).length).toBe(before + 1);
    expect((await node.verify()).findings).toEqual([]);
  },
);
