import { expect, test } from 'vitest';
import { EMPTY_PROJECT, makeShell } from '../fixtures/callCli.ts';

test('a human rotates the token secret, which is on record without the secret [S2.39]', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  const rotated = await shell.callAs('open sesame', ['tokens', 'rotate', '--json']);

  expect(rotated).toMatchObject({ code: 0 });
  const { kid } = rotated.json();
  const { stdout } = await shell.callAs('open sesame', ['audit', 'export']);
  const records = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.find(({ event }) => event === 'token_secret_rotated')).toMatchObject({
    principal: 'human:maria',
    data: { kid },
  });
});

test('nobody else rotates it: not without a human, not without the passphrase', async () => {
  const shell = makeShell(EMPTY_PROJECT);

  expect(await shell.call(['tokens', 'rotate'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('none is set up'),
  });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  expect((await shell.call(['tokens', 'rotate'])).code).toBe(2);
  expect((await shell.callAs('wrong', ['tokens', 'rotate'])).code).toBe(1);
});

test('a secret of the environment is rotated there', async () => {
  const env = { ORCHESTRATOR_JWT_SECRET: 'x'.repeat(32) };

  expect(await makeShell(EMPTY_PROJECT).call(['tokens', 'rotate'], '', env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('ORCHESTRATOR_JWT_SECRET_PREVIOUS'),
  });
});
