import { expect, test } from 'vitest';
import { command } from './command.ts';
import { checkInput, temporaryFolder } from './fixtures/checkInput.ts';

test('a command must print the demanded text itself, not leave it to a process it left behind [adv.Q7]', async () => {
  // It prints until nobody reads any more, which ends it.
  const late = "setInterval(() => process.stdout.write('tests 12'), 1)";
  const script = `
    const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(late)}],
      { detached: true, stdio: ['ignore', 1, 'ignore'] });
    child.once('spawn', () => process.exit(0));`;

  const answer = await command.run(
    checkInput(
      { argv: [process.execPath, '-e', script], stdout_matches: 'tests 12' },
      { workspace: await temporaryFolder() },
    ),
  );

  expect(answer).toMatchObject({ passed: false });
  expect(answer.reason).toContain('could still print in its place');
});
