import { describe, expect, test } from 'vitest';
import { driveLocalRun } from '../../../localRunner.ts';
import type { Machine } from '../command.ts';
import { makeShell } from '../fixtures/callCli.ts';

describe('a workflow that asks for capabilities', () => {
  const SKILLED = 'workflow: errand\ncapabilities: [python]\nphases: { GO: { instructions: Go there } }\n';
  const shellWithAgents = async () => {
    const shell = makeShell({ 'agent_workflow.yaml': SKILLED });
    const keyOf = async (name: string, ...words: string[]) =>
      String((await shell.call(['agents', 'add', name, ...words, '--json'])).json().key);
    return {
      shell,
      cook: await keyOf('ada', '--capability', 'cooking'),
      coder: await keyOf('bob', '--capability', 'python'),
      unknown: await keyOf('eve'),
    };
  };

  test('is not begun by an agent that has shown none', async () => {
    const { shell, cook, unknown } = await shellWithAgents();

    for (const env of [{}, { PHASEGATE_KEY: cook }, { PHASEGATE_KEY: unknown }]) {
      const begun = await shell.call(['start', 'errand', '--json'], '', env);
      expect(begun.code).toBe(1);
      expect(begun.json()).toMatchObject({
        error: 'capability_missing',
        message: expect.stringContaining('`python`'),
        next_action: expect.stringContaining('phasegate start errand --queue'),
      });
    }
    expect((await shell.call(['runs', '--json'])).json()).toMatchObject({ runs: [] });
  });

  test('is begun by one that was added with them, or says them itself', async () => {
    const { shell, coder, cook } = await shellWithAgents();
    const start = ['start', 'errand', '--json'];

    expect((await shell.call(start, '', { PHASEGATE_KEY: coder })).json()).toMatchObject({ phase: 'GO' });
    expect((await shell.call([...start, '--capability', 'python'])).json()).toMatchObject({ phase: 'GO' });
    // What was said when it was added is all it can do, whatever it says now.
    const cooking = await shell.call([...start, '--capability', 'python'], '', { PHASEGATE_KEY: cook });
    expect(cooking.json()).toMatchObject({ error: 'capability_missing' });
  });

  test('is not driven by an agent that has shown none', async () => {
    const { shell } = await shellWithAgents();

    const driven = await shell.callWith(MACHINE, ['run', 'errand', '--json']);
    const shown = await shell.callWith(MACHINE, ['run', 'errand', '--capability', 'python', '--json']);

    expect(driven.json()).toMatchObject({ error: 'capability_missing' });
    expect(shown.json()).toMatchObject({ outcome: 'awaiting_agent', phase: 'GO' });
  });

  test('is queued by anyone, and not driven from the queue without them', async () => {
    const { shell } = await shellWithAgents();
    const queued = (await shell.call(['start', 'errand', '--queue', '--json'])).json();
    expect(queued).toMatchObject({ status: 'queued' });

    const driven = await shell.callWith(MACHINE, ['run', String(queued.run), '--json']);

    expect(driven.code).toBe(1);
    expect(driven.stdout + driven.stderr).toContain('python');
    expect((await shell.call(['runs', '--json'])).json()).toMatchObject({ runs: [{ status: 'queued' }] });
  });
});

const none = () => expect.fail('this is not asked for here');
const MACHINE: Machine = {
  serveMcp: none,
  openServer: none,
  spawnAgent: none,
  runLaunch: none,
  stopping: () => new AbortController().signal,
  driveRun: driveLocalRun,
  testWorkflow: none,
};
