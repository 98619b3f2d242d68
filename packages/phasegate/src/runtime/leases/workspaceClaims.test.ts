import { expect, test } from 'vitest';
import { ADA, agent, BOB, claim, done, openWith, queue, TWO } from '../fixtures/agentsAtWork.ts';

const ALONE = { workflow: { enforcement: { workspace: 'exclusive' as const } } };

test('of many claims at once on runs that want the workspace to themselves one is given out, by priority [adv.K2]', async () => {
  const it = openWith(TWO, ALONE);
  await queue(it);
  const urgent = await queue(it, { priority: 5 });
  await queue(it);

  const claimed = await Promise.all(
    ['ada', 'bob', 'cy', 'dan'].map((name) => it.project.claims.claim(agent(name), [])),
  );
  const begun = claimed.filter((one) => one !== null);

  expect(begun.map(({ view }) => view.run)).toEqual([urgent]);
});

test('the next run begins when the one before has ended, in the order of the queue', async () => {
  const it = openWith(TWO, ALONE);
  const [first, second] = [await queue(it), await queue(it)];
  const begun = await claim(it, ADA);
  await expect(it.project.claims.claimRun(second, BOB, [])).rejects.toMatchObject({ code: 'not_permitted' });
  const next = await done(it, begun);
  await done(it, next.next as NonNullable<typeof next.next>);

  expect(begun.view.run).toBe(first);
  expect((await claim(it, BOB)).view.run).toBe(second);
});

test('a run that was given back in the midst of its work is taken up again before another begins', async () => {
  const it = openWith(TWO, ALONE);
  const first = await queue(it);
  const urgent = await queue(it, { priority: 5 });
  const begun = await it.project.claims.claimRun(first, ADA, []);
  await done(it, begun);
  await it.project.claims.release(first, ADA, 'given_back');
  const told = await it.project.as(BOB).view(urgent);
  const again = await claim(it, BOB);

  expect(told.waitsFor).toEqual({ run: first, workflow: 'tested', status: 'queued' });
  expect(told.nextAction.text).toContain(`take run \`${first}\` up with \`phasegate claim ${first}\``);
  expect(again.view.run).toBe(first);
});

test('a run that the workspace was taken from while it was claimed says for which it waits', async () => {
  const it = openWith(TWO, ALONE);
  const [one, two] = [await queue(it), await queue(it)];

  const both = await Promise.allSettled([
    it.project.claims.claimRun(one, ADA, []),
    it.project.claims.claimRun(two, BOB, []),
  ]);

  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = both.find((each) => each.status === 'rejected');
  expect(refused?.reason).toMatchObject({
    code: 'not_permitted',
    message: expect.stringContaining('is active and has this workspace'),
  });
});
