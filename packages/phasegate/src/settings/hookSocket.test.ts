import { chmodSync, mkdirSync, mkdtempSync, realpathSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { hookSocketFor, makeSocketFolder } from './hookSocket.ts';

test('the socket lies beside the state, and for long paths in a folder of the user, always short enough', () => {
  const short = '/home/maria/.local/state/phasegate/shop-0123456789abcdef';
  const long = `/home/${'deep/'.repeat(40)}phasegate/shop-0123456789abcdef`;

  expect(hookSocketFor(short)).toBe(`${short}/run/hooks.sock`);
  expect(hookSocketFor(long)).toMatch(/^\/tmp\/phasegate-\d+\/[0-9a-f]{32}\.sock$/);
  expect(hookSocketFor(`${long}x`)).not.toBe(hookSocketFor(long));
  for (const path of [short, long, `/${'ü'.repeat(60)}`])
    expect(Buffer.byteLength(hookSocketFor(path))).toBeLessThan(100);
});

test('its folder is for the user alone; one that is a link, or open to others, is refused', () => {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-socket-'));
  const socket = join(base, 'run', 'hooks.sock');

  makeSocketFolder(socket);
  makeSocketFolder(socket);

  expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
  chmodSync(dirname(socket), 0o750);
  expect(() => makeSocketFolder(socket)).toThrow(/can be entered by others/);
  mkdirSync(join(base, 'theirs'), { mode: 0o700 });
  symlinkSync('theirs', join(base, 'linked'));
  expect(() => makeSocketFolder(join(base, 'linked', 'hooks.sock'))).toThrow(/is a link/);
  expect(() => makeSocketFolder(join(base, 'a', 'b', 'hooks.sock'))).toThrow(/cannot be made/);
});
