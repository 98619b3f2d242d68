import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PhaseDraft } from '@phasegate/core';
import { expect, test } from 'vitest';
import { driveBed, playing } from './fixtures/driveBed.ts';

const REVIEW: readonly PhaseDraft[] = [
  {
    id: 'review',
    instructions: 'Judge the plan.',
    work: { kind: 'dispatch', agent: 'quality_reviewer', supportsQuestions: true },
  },
];

const BLOCK = `<needs_user_input>
  <question><text>Which database?</text><option>SQLite</option><option>PostgreSQL</option></question>
</needs_user_input>`;

test.each(['review-1/answers.json', 'review-1.prompt.md', 'review-1.log'])(
  'the runner writes nothing through a link that a sub-agent put at %s, and says so',
  async (name) => {
    const bed = await driveBed(REVIEW);
    const agentCommand = playing('asks', BLOCK);
    expect(await bed.drive({ agentCommand })).toMatchObject({ outcome: 'waiting' });
    await bed.human.submit(bed.run, { kind: 'answer', question: 1, text: 'SQLite' });
    const precious = join(bed.root, 'precious');
    writeFileSync(precious, 'mine');
    const place = join(bed.stateDir, 'runs', bed.run, name);
    rmSync(place, { force: true });
    symlinkSync(precious, place);

    await expect(bed.drive({ agentCommand })).rejects.toMatchObject({
      code: 'path_outside',
      message: expect.stringContaining('is a link, which is not followed'),
      hint: expect.stringContaining('remove it'),
    });

    expect(readFileSync(precious, 'utf8')).toBe('mine');
    rmSync(place);
    expect(await bed.drive({ agentCommand })).toMatchObject({ outcome: 'completed' });
  },
);

test('the runner neither writes nor removes anything through a folder that became a link [adv.Q8]', async () => {
  const bed = await driveBed(REVIEW);
  const elsewhere = join(bed.root, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'answers.json'), 'mine');
  mkdirSync(join(bed.stateDir, 'runs', bed.run), { recursive: true });
  symlinkSync(elsewhere, join(bed.stateDir, 'runs', bed.run, 'review-1'));

  await expect(bed.drive({ agentCommand: playing('say', '{"status":"PASS"}') })).rejects.toMatchObject({
    code: 'path_outside',
  });

  expect(readFileSync(join(elsewhere, 'answers.json'), 'utf8')).toBe('mine');
});
