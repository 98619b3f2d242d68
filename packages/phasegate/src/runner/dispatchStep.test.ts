import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PhaseDraft } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { commanded, driveBed, play, playing } from './fixtures/driveBed.ts';

const review = (more: object = {}, draft: Partial<PhaseDraft> = {}): readonly PhaseDraft[] => [
  {
    id: 'review',
    instructions: 'Judge the plan.',
    work: { kind: 'dispatch', agent: 'quality_reviewer', script: 'skills.qr.plan', ...more },
    next: { outcomes: { ok: 'build', fail: 'revise' } },
    ...draft,
  },
  commanded('build', play('ok'), { next: { to: null } }),
  commanded('revise', play('ok'), { next: { to: null } }),
];

const BLOCK = `<needs_user_input>
  <question><text>Which database?</text><option>SQLite</option><option>PostgreSQL</option></question>
</needs_user_input>`;

describe('a sub-agent', () => {
  test.each([
    ['{"status":"PASS","score":9}', 'build', { score: 9 }],
    [
      '{"status":"FAIL","reason":"no rollback"}',
      'revise',
      { reason: 'no rollback', failure_reason: 'the sub-agent answered FAIL: no rollback' },
    ],
  ])(
    'that answers %s leads to %s [S4.15 S4.16 S4.17 S4.18 S4.41 fail.47]',
    async (answer, phase, evidence) => {
      const bed = await driveBed(review());

      expect(await bed.drive({ agentCommand: playing('say', answer) })).toMatchObject({
        outcome: 'completed',
      });

      expect(bed.starts().map(([id]) => id)).toEqual(['review', phase]);
      expect((await bed.load()).completions[0]?.evidence).toEqual(evidence);
    },
  );

  test('is told its role, its script, the phase, and where its state is [S4.15 S4.16]', async () => {
    const bed = await driveBed(review({ prompt: 'Be strict.' }));

    await bed.drive({ agentCommand: playing('prompt') });

    const { prompt, env } = JSON.parse(bed.lines('prompts')[0] ?? '');
    for (const part of [
      '`quality_reviewer`',
      '`skills.qr.plan`',
      'Be strict.',
      'Judge the plan.',
      env.PHASEGATE_STATE_DIR,
    ])
      expect(prompt).toContain(part);
    expect(env.PHASEGATE_STATE_DIR).toBe(join(bed.stateDir, 'runs', bed.run, 'review-1'));
    expect(prompt).not.toContain('needs_user_input');
  });

  test.each([
    ['prose', playing('raw', 'It looks fine to me?'), 'the last line of the sub-agent is not JSON'],
    ['no status', playing('say', '{"verdict":"PASS"}'), 'the sub-agent gave no `status`'],
    ['nothing', playing('silent'), 'the sub-agent printed nothing'],
    ['a question it may not ask', playing('raw', BLOCK), 'this step takes no questions'],
  ])('that answers with %s has failed the attempt [S4.52]', async (_, agentCommand, reason) => {
    const bed = await driveBed(review());

    expect(await bed.drive({ agentCommand })).toMatchObject({ outcome: 'escalated', phase: 'review' });

    expect((await bed.load()).work).toMatchObject({ attempts: 2, failure: expect.stringContaining(reason) });
  });

  test('that answers FAIL where there is no way for it has failed the attempt', async () => {
    const bed = await driveBed(review({}, { next: { outcomes: { ok: 'build' } } }).slice(0, 2));

    expect(
      await bed.drive({ agentCommand: playing('say', '{"status":"FAIL","reason":"thin"}') }),
    ).toMatchObject({ outcome: 'escalated' });

    expect((await bed.load()).work.failure).toBe('the sub-agent answered FAIL: thin');
  });

  test('without a program for it is left to the agent that reads the prompt, with how to relay questions [S4.48 S4.56 S4.57]', async () => {
    const bed = await driveBed(review({ supportsQuestions: true }));

    expect(await bed.drive()).toMatchObject({ outcome: 'awaiting_agent', phase: 'review' });

    const prompt = bed.reports.find((one) => one.event === 'prompt');
    expect(prompt?.text).toContain(`phasegate done ${bed.run} --phase review --outcome fail --reason T`);
    expect(prompt?.text).toContain('The sub-agent may ask a human');
  });
});

describe('a sub-agent that asks', () => {
  test('makes the run wait, and is invoked afresh with the answers and its state [S4.48 S4.49 S4.50 S4.51 S4.53 S4.54 S4.55 S4.57 fail.46]', async () => {
    const bed = await driveBed(review({ supportsQuestions: true }));
    const agentCommand = playing('asks', BLOCK);

    expect(await bed.drive({ agentCommand })).toMatchObject({ outcome: 'waiting', phase: 'review' });
    expect(bed.waits()[0]).toMatchObject({
      for: 'questions',
      questions: [
        {
          number: 1,
          text: 'Which database?',
          options: ['SQLite', 'PostgreSQL'],
          how: expect.stringContaining(`phasegate answer ${bed.run} --question 1`),
        },
      ],
    });
    await bed.human.submit(bed.run, { kind: 'answer', question: 1, text: 'SQLite' });
    expect(await bed.drive({ agentCommand })).toMatchObject({ outcome: 'completed' });

    const [first, second] = bed.lines('prompts').map((line) => JSON.parse(line));
    expect(second.pid).not.toBe(first.pid);
    expect(second.state).toBe(first.state);
    expect(first.prompt).toContain('<needs_user_input>');
    expect(second.prompt).toContain('- Which database?\n  Answer: SQLite');
    const answers = [{ question: 'Which database?', options: ['SQLite', 'PostgreSQL'], answer: 'SQLite' }];
    expect((await bed.load()).completions[0]?.evidence).toEqual({ plan: { found: 'two tables' }, answers });
    expect(existsSync(join(bed.stateDir, 'runs', bed.run, 'review-1', 'plan.json'))).toBe(true);
    expect((await bed.load()).completions[0]?.outcome).toBe('ok');
  });

  test.each([
    [
      'text around the block',
      `I need to know.\n${BLOCK}`,
      'must be one `<needs_user_input>` block and nothing else',
    ],
    ['one option', BLOCK.replace('<option>SQLite</option>', ''), 'needs two or three distinct options'],
    ['no end', BLOCK.replace('</needs_user_input>', ''), 'cannot be passed on'],
  ])('with %s is told what is wrong with it [S4.51 S4.52 S4.53]', async (_, block, reason) => {
    const bed = await driveBed(review({ supportsQuestions: true }));

    expect(await bed.drive({ agentCommand: playing('raw', block) })).toMatchObject({ outcome: 'escalated' });

    expect(bed.endings()[0]?.[1]).toContain(reason);
    expect((await bed.load()).status).toBe('escalated');
  });

  test('by a question mark in prose asks nobody [S4.52]', async () => {
    const bed = await driveBed(review({ supportsQuestions: true }));

    await bed.drive({ agentCommand: playing('raw', 'Which database should I use?') });

    expect(bed.waits().map((what) => what.for)).toEqual(['escalation']);
  });
});
