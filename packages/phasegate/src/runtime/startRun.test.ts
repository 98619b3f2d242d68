import { expect, test } from 'vitest';
import { openMemoryProject } from './fixtures/openMemoryProject.ts';

const ERRAND = { id: 'errand', phases: [{ id: 'WORK' }] };
const [ADA, BOB] = [agent('ada'), agent('bob')];

test('an agent has no more unfinished runs than can be looked over, and keeps no other from starting [adv.O5]', async () => {
  const { project } = openMemoryProject(ERRAND);
  const start = (principal: typeof ADA, queue = false) =>
    project.as(principal).start({ workflow: 'errand', queue });
  const runs: string[] = [];
  for (let count = 0; count < 1000; count += 1) runs.push((await start(ADA)).view?.run ?? '');

  await expect(start(ADA)).rejects.toMatchObject({
    code: 'rate_limited',
    message: '`ada` has 1000 runs that are not finished already',
  });
  expect((await start(BOB)).verdict.allowed).toBe(true);
  expect((await start(ADA, true)).view?.status).toBe('queued');

  await project.as(ADA).submit(String(runs[0]), { kind: 'complete', phase: 'WORK', evidence: {} });
  expect((await start(ADA)).verdict.allowed).toBe(true);
});

test('a run from before the rule stands in the way by every name of its target, and no other run does', async () => {
  const free = openMemoryProject(ERRAND, { sqlite: true });
  const one = openMemoryProject({ ...ERRAND, oneRunPer: 'target' }, { sqlite: free.folder });
  const start = ({ project }: typeof one, target: string) =>
    project.as(ADA).start({ workflow: 'errand', target });
  const { view } = await start(free, `${free.folder}/docs/a.md`);
  await start(free, `${free.folder}-beside/docs/b.md`);
  await start(free, '../c.md');

  const refused = { allowed: false, blockers: [{ code: 'run_exists' }] };
  expect((await start(one, 'docs/a.md')).verdict).toMatchObject(refused);
  expect((await start(one, 'docs/b.md')).verdict.allowed).toBe(true);
  expect((await start(one, 'c.md')).verdict.allowed).toBe(true);
  await one.project
    .as({ kind: 'human', name: 'eve' })
    .submit(view?.run ?? '', { kind: 'stop', reason: 'enough' });
  expect((await start(one, 'docs/a.md')).verdict.allowed).toBe(true);
  await Promise.all([free.project.close(), one.project.close()]);
});

function agent(name: string) {
  return { kind: 'agent' as const, name };
}
