import { expect, test } from 'vitest';
import { EMPTY_PROJECT, makeShell } from '../fixtures/callCli.ts';

test('a second human is added and removed only by one who is there', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  expect((await shell.callAs('open sesame', ['humans', 'add', 'maria'])).code).toBe(0);
  const fresh = shell.descriptor('another secret\n');

  expect((await shell.call(['humans', 'add', 'joe', '--new-passphrase-fd', String(fresh)])).code).toBe(2);
  const again = shell.descriptor('another secret\n');
  const words = ['humans', 'add', 'joe', '--new-passphrase-fd', String(again), '--as', 'maria'];
  expect(await shell.callAs('open sesame', words)).toMatchObject({ code: 0 });

  const twice = shell.descriptor('another secret\n');
  const known = ['humans', 'add', 'joe', '--new-passphrase-fd', String(twice), '--as', 'maria', '--json'];
  expect((await shell.callAs('open sesame', known)).json()).toMatchObject({
    message: '`joe` is set up already',
    hint: 'phasegate humans passphrase joe',
  });

  expect((await shell.call(['humans', 'list', '--json'])).json()).toMatchObject({
    humans: [{ name: 'joe' }, { name: 'maria' }],
  });
  expect(await shell.callAs('open sesame', ['humans', 'remove', 'joe'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--as NAME'),
  });
  expect((await shell.callAs('another secret', ['humans', 'remove', 'maria', '--as', 'joe'])).code).toBe(0);
});
