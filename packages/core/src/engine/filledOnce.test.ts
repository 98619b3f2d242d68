import { expect, test } from 'vitest';
import type { Content, Phase } from '../model/workflow.ts';
import { phases, workflowOf } from './fixtures/walks.ts';
import { phaseText, taskText } from './phaseText.ts';

test('the text of a template is filled once, however often it is read [S1.78]', () => {
  const workflow = {
    ...workflowOf(phases(1, () => ({ tasks: [{ name: 'one' }] }))),
    templates: { phase: '# [NAME]', task: 'Task of [NAME]' },
  };
  const phase = { ...counted(), name: 'phase' };
  const task = { ...counted(), name: 'task' };
  const [first] = workflow.phases as [Phase];
  const made: Phase = {
    ...first,
    content: phase.content,
    tasks: first.tasks.map((one) => ({ ...one, content: task.content })),
  };
  const whole = { ...workflow, phases: [made] };

  for (let time = 0; time < 3; time++) {
    expect(phaseText(whole, made, { work: null })).toContain('# Parser');
    expect(taskText(whole, made, 1)).toBe('Task of Parser');
  }

  expect([phase.reads(), task.reads()]).toEqual([1, 1]);
});

/** A content that counts how often its value is taken. */
function counted(): { readonly content: Content; readonly reads: () => number } {
  let reads = 0;
  const values = Object.defineProperty({} as Record<string, string>, 'NAME', {
    enumerable: true,
    get() {
      reads += 1;
      return 'Parser';
    },
  });
  return { content: { kind: 'template', values }, reads: () => reads };
}
