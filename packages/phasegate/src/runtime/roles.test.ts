import type { WorkflowDraft } from '@phasegate/core';
import { expect, onTestFinished, test } from 'vitest';
import { openMemoryProject } from './fixtures/openMemoryProject.ts';
import type { Role, UnlockedHuman } from './ports.ts';

const PASSPHRASE = 'correct horse battery';
const ERRAND: WorkflowDraft = {
  id: 'errand',
  phases: [{ id: 'GO', instructions: 'go', writes: [] }],
};
const REFUSED = { code: 'not_permitted' };

test('a viewer changes no run: not by starting, answering, resuming, stopping or settling', async () => {
  const { project, humans } = await opened();
  const run = await started();
  const viewer = project.as(humans.viewer.principal);

  await expect(viewer.start({ workflow: 'errand' })).rejects.toMatchObject(REFUSED);
  await expect(viewer.submit(run, { kind: 'stop', reason: 'x' })).rejects.toMatchObject(REFUSED);
  await expect(viewer.submit(run, { kind: 'resume' })).rejects.toMatchObject(REFUSED);
  await expect(viewer.submit(run, { kind: 'answer', question: 1, text: 'x' })).rejects.toMatchObject(REFUSED);
  const order = { action: 'restore', paths: ['a'], reason: '', shown: 'x' } as const;
  await expect(project.fencing.settle(run, order, humans.viewer)).rejects.toMatchObject(REFUSED);
  expect((await viewer.view(run)).status).toBe('active');
  const stopped = await project.as(humans.approver.principal).submit(run, { kind: 'stop', reason: 'enough' });
  expect(stopped.verdict).toMatchObject({ allowed: true });

  async function started(): Promise<string> {
    const { view } = await project.as({ kind: 'agent', name: 'ada' }).start({ workflow: 'errand' });
    return view?.run ?? expect.fail('no run was made');
  }
});

test.each(['viewer', 'approver'] as const)(
  'a %s has no say over humans, agents, webhooks and trust',
  async (role) => {
    const { project, humans } = await opened();
    const { [role]: human, admin } = humans;

    await expect(project.humans.add('mallory', PASSPHRASE, human)).rejects.toMatchObject(REFUSED);
    await expect(project.humans.remove('admin', human)).rejects.toMatchObject(REFUSED);
    await expect(project.agents.add('eve', { by: human })).rejects.toMatchObject(REFUSED);
    await expect(
      project.webhooks.add('https://example.com', { events: [], by: human }),
    ).rejects.toMatchObject(REFUSED);
    await expect(project.trust.workflows.accept('errand', 'closure-1', human)).rejects.toMatchObject(REFUSED);
    await expect(project.hooks.beginPause({ minutes: 1, reason: 'x' }, human)).rejects.toMatchObject(REFUSED);
    expect((await project.agents.add('bob', { by: admin })).name).toBe('bob');
  },
);

test('the first human is an admin, those from before roles are, and the last admin stays', async () => {
  const { project, humans } = await opened();

  await expect(project.humans.remove('admin', humans.admin)).rejects.toMatchObject({
    message: expect.stringContaining('last admin'),
  });
  expect((await project.humans.list()).map(({ name, role }) => [name, role])).toEqual([
    ['admin', 'admin'],
    ['approver', 'approver'],
    ['viewer', 'viewer'],
  ]);
  const alone = openMemoryProject(ERRAND);
  onTestFinished(() => alone.project.close());
  const first = { name: 'ann', role: 'viewer' } as const;
  await expect(alone.project.humans.add(first, PASSPHRASE, null)).rejects.toMatchObject({ code: 'usage' });
});

test.each(['viewer', 'approver'] as const)(
  'a %s leads no run past a phase, gives nobody a new key and freezes no dependencies',
  async (role) => {
    const { project, humans } = await opened();
    const { [role]: human, admin } = humans;
    const { view } = await project.as({ kind: 'agent', name: 'ada' }).start({ workflow: 'errand' });
    const run = view?.run ?? expect.fail('no run was made');
    const order = {
      kind: 'npm',
      lockfile: 'package-lock.json',
      hash: 'x',
      scripts: [],
      hosts: [],
      files: [],
    } as const;

    await expect(project.override(run, { reason: 'x' }, human)).rejects.toMatchObject(REFUSED);
    await expect(project.humans.reset('admin', PASSPHRASE, human)).rejects.toMatchObject(REFUSED);
    await expect(project.dependencies.freeze(order, human)).rejects.toMatchObject(REFUSED);
    const { verdict } = await project.override(run, { reason: 'nobody else is here' }, admin);
    expect(verdict).toMatchObject({ allowed: true });
  },
);

test('a new key leaves a human the role they had, and the audit says so', async () => {
  const { project, humans } = await opened();

  await project.humans.reset('viewer', 'another horse battery', humans.admin);

  expect(await project.humans.list()).toContainEqual(
    expect.objectContaining({ name: 'viewer', role: 'viewer' }),
  );
  const records = await project.feed.after(0, 99);
  expect(records.findLast(({ event }) => event === 'human_added')).toMatchObject({
    data: { human: 'viewer', role: 'viewer' },
  });
});

test('who is not on record may do nothing once there are humans', async () => {
  const { project } = await opened();
  const nobody = project.as({ kind: 'human', name: 'nobody' });

  await expect(nobody.start({ workflow: 'errand' })).rejects.toMatchObject(REFUSED);
});

async function opened() {
  const { project } = openMemoryProject(ERRAND);
  onTestFinished(() => project.close());
  await project.humans.add('admin', PASSPHRASE, null);
  const admin = await project.humans.unlock('admin', PASSPHRASE);
  await project.trust.workflows.accept('errand', 'closure-1', admin);
  const added = async (role: Role): Promise<UnlockedHuman> => {
    await project.humans.add({ name: role, role }, PASSPHRASE, admin);
    return project.humans.unlock(role, PASSPHRASE);
  };
  return { project, humans: { admin, approver: await added('approver'), viewer: await added('viewer') } };
}
