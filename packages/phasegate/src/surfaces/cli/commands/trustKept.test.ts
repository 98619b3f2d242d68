import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const NOTES = 'workflow: notes\nphases: { WRITE: {} }\n';
const LATER = 'workflow: later\nphases: { WRITE: {} }\n';

test('what a human accepted before a backup starts after it was restored elsewhere; what came later is accepted again', async () => {
  const shell = await accepted({ 'agent_workflow.yaml': NOTES, 'later.workflow.yaml': LATER });
  const backup = join(shell.root, '../state.db');
  expect((await shell.call(['backup', backup])).code).toBe(0);
  shell.write('later.workflow.yaml', `${LATER}description: Changed since\n`);
  await shell.callAs('open sesame', ['trust', 'later', '--yes']);

  const restored = elsewhere(shell);
  const inIt = (words: readonly string[]) => shell.call(words, '', restored);
  const fd = shell.descriptor('another secret\n');
  expect((await inIt(['humans', 'add', 'john', '--passphrase-fd', String(fd)])).code).toBe(0);
  const again = shell.descriptor('another secret\n');
  expect((await inIt(['restore', backup, '--passphrase-fd', String(again)])).code).toBe(0);

  expect((await inIt(['humans', 'list'])).stdout).toMatch(/^maria /);
  expect((await inIt(['start', 'notes', '--json'])).json()).toMatchObject({ trusted: true });
  expect((await inIt(['start', 'later', '--json'])).json()).toMatchObject({
    error: 'untrusted_workflow',
    hint: 'phasegate trust later',
  });
  expect((await inIt(['doctor'])).stdout).toMatch(
    /workflow later +later\.workflow\.yaml: valid, not trusted/,
  );
});

test('what a human accepted is accepted again once that human has another key, and the one who makes it is told', async () => {
  const shell = await accepted({ 'agent_workflow.yaml': NOTES });
  const secret = (text: string) => String(shell.descriptor(`${text}\n`));
  const acting = (text: string) => ['--passphrase-fd', text, '--new-passphrase-fd', secret('another secret')];
  await shell.call(['humans', 'add', 'joe', '--as', 'maria', ...acting(secret('open sesame'))]);

  const reset = ['humans', 'reset', 'maria', '--as', 'joe', ...acting(secret('another secret'))];
  expect((await shell.call(reset)).stdout).toContain('what it accepted is to be accepted again');

  expect((await shell.call(['start', 'notes', '--json'])).json()).toMatchObject({
    error: 'untrusted_workflow',
  });
});

async function accepted(files: Readonly<Record<string, string>>): Promise<Shell> {
  const shell = makeShell(files);
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  expect((await shell.callAs('open sesame', ['trust', '--yes'])).code).toBe(0);
  return shell;
}

/** The same project with a new state directory, in which only the keys are. */
function elsewhere({ root, env }: Shell) {
  const place = (state: string) => join(state, 'phasegate');
  const [before, now] = [String(env.XDG_STATE_HOME), join(root, '../new-state')];
  const [name = ''] = readdirSync(place(before));
  mkdirSync(join(place(now), name), { recursive: true, mode: 0o700 });
  copyFileSync(join(place(before), name, 'keys.json'), join(place(now), name, 'keys.json'));
  return { XDG_STATE_HOME: now };
}
