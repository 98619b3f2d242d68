import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';
import { machine } from '../fixtures/drivingMachine.ts';

test('a new run that must wait for the workspace is told to go on with later, and not to be made once more', async () => {
  const shell = makeShell({
    'a.workflow.yaml': 'workflow: writing\nphases: { WRITE: { instructions: Write, writes: ["a/**"] } }\n',
  });
  await shell.call(['start', 'writing']);

  const called = await shell.callWith(machine(), ['run', 'writing', '--json']);

  const [waiting] = (await shell.call(['runs', '--status', 'queued', '--json'])).json().runs as [
    { run: string },
  ];
  expect(called).toMatchObject({ code: 1 });
  expect(called.json()).toMatchObject({
    error: 'not_permitted',
    hint: expect.stringContaining(`\`phasegate run ${waiting.run}\``),
  });
  expect((await shell.call(['claim'])).stdout).toContain('waits for the workspace of another run');
});
