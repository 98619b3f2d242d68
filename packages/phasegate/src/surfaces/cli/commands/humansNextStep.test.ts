import { expect, test } from 'vitest';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const WORKFLOW = `
workflow: ship
phases:
  PLAN:
    gate: { human: { prompt: Good?, options: [{ label: Approve }, { label: Request changes, next: PLAN, requires_input: true }] } }
  BUILD: {}
`;

test.each(['approve', 'Aprove'])(
  'a human who decides `%s` is told the options, and not to wait',
  async (typed) => {
    const { shell, run } = await started();
    await shell.call(['done', run]);

    const words = ['decide', run, '--option', typed, '--shown', await shell.shown(run)];
    const { code, stdout } = await shell.callAs('open sesame', words);

    expect(code).toBe(1);
    expect(stdout).toContain(`there is no option \`${typed}\` (did you mean \`Approve\`?)`);
    expect(stdout).toContain('\nnext: decide again with `Approve` or `Request changes`\n');
    expect(stdout).not.toContain('wait:');
  },
);

test('a choice that needs words and has none: the refusal says how they are given', async () => {
  const { shell, run } = await started();
  await shell.call(['done', run]);

  const words = ['decide', run, '--option', 'Request changes', '--shown', await shell.shown(run)];
  const { code, stderr } = await shell.callAs('open sesame', words);

  expect([code, stderr]).toEqual([2, expect.stringContaining('\nhint: add `--input "TEXT"`')]);
});

test('a human who leads a run where its phase does not lead is told the ways there are', async () => {
  const { shell, run } = await started();

  const words = ['override', run, '--reason', 'x', '--to', 'BILD'];
  const { code, stdout } = await shell.callAs('open sesame', words);

  expect(code).toBe(1);
  expect(stdout).toContain('does not lead to `BILD` (did you mean `BUILD`?); it leads to `BUILD`');
  expect(stdout).toMatch(/\nnext: override again with `--to BUILD`( or|\n)/);
  expect(stdout).not.toMatch(/phasegate (done|blocked)/);
});

test('a human who resumes a run that is active is told so, with what they can do', async () => {
  const { shell, run } = await started();

  const { code, stdout } = await shell.callAs('open sesame', ['resume', run]);
  const { next_action: next } = (await shell.callAs('open sesame', ['resume', run, '--json'])).json();

  expect(code).toBe(1);
  expect(stdout).toContain('\nnext: nothing: the run is active already, and its agent goes on');
  expect(stdout).not.toMatch(/phasegate (done|blocked)/);
  expect(next).toContain(`phasegate stop ${run} --reason TEXT`);
});

async function started(): Promise<{ readonly shell: Shell; readonly run: string }> {
  const shell = makeShell({ 'ship.workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  return { shell, run: String((await shell.call(['start', 'ship', '--json'])).json().run) };
}
