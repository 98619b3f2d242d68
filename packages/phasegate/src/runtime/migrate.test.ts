import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  canonicalJson,
  defineWorkflow,
  type Json,
  type PhaseDraft,
  type Workflow,
  type WorkflowDraft,
} from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import {
  ADA,
  BOB,
  claim,
  done,
  events,
  openWith,
  queue,
  slowTool,
  TWO,
  turns,
} from './fixtures/agentsAtWork.ts';
import type { MemoryProject, MemoryProjectOptions } from './fixtures/openMemoryProject.ts';
import type { Catalog, UnlockedHuman } from './ports.ts';

const LATER: readonly PhaseDraft[] = [TWO[0] as PhaseDraft, { id: 'PUBLISH', instructions: 'publish it' }];
const EARLIER: readonly PhaseDraft[] = [{ id: 'ASK', instructions: 'ask first' }, ...TWO];

describe.each([
  ['memory', {}],
  ['SQLite', { sqlite: true as const }],
])('a run in flight (%s)', (_, options) => {
  test('goes on under the new workflow to its end, and the audit holds [adv.K6]', async () => {
    const { it, files, maria } = await openEdited(options);
    const run = await queue(it);
    const first = await claim(it, ADA);
    await files.edit(LATER);

    const { verdict, view } = await it.project.migrations.migrate(run, files.hash().slice(0, 8), maria);

    expect(verdict).toEqual({ allowed: true });
    expect(view).toMatchObject({ phase: 'PLAN', status: 'active', holder: 'ada', epoch: 3, trusted: true });
    expect((await it.project.load(run)).workflow).toEqual(files.workflow());
    // What it was given before is dead; it still holds the run, and asks for another token.
    await expect(it.project.claims.admit(first.token)).rejects.toMatchObject({ code: 'token_dead' });
    const again = await it.project.claims.token(run, ADA);
    expect((await done(it, again)).view).toMatchObject({ phase: 'PUBLISH' });
    expect((await done(it, await it.project.claims.token(run, ADA))).view.status).toBe('completed');
    const [migrated] = (await it.store.history(run, { after: 0, limit: 99 })).filter(
      ({ event }) => event === 'run_migrated',
    );
    expect(migrated).toMatchObject({
      principal: 'human:maria',
      data: { workflowHash: files.hash(), workflow: files.workflow(), by: 'maria' },
    });
    expect(await it.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });

  test('is migrated twice, and what was recorded of it begins with the workflow it was started with', async () => {
    const { it, files, maria } = await openEdited(options);
    const started = files.workflow();
    const run = await queue(it);
    await files.edit(LATER);
    await it.project.migrations.migrate(run, files.hash(), maria);
    await files.edit(TWO, 'said better');
    await it.project.migrations.migrate(run, files.hash(), maria);

    for await (const { run: kept, startedWith, records } of it.project.records.runs({ runs: [run] })) {
      expect(kept.workflow.description).toBe('said better');
      expect(startedWith).toEqual(started);
      expect(records.filter(({ event }) => event === 'run_migrated').length).toBe(2);
    }
    expect(await it.project.verifyAudit()).toMatchObject({ ok: true });
  });

  test('stays as it is where nothing is proven, and that is on record', async () => {
    const { it, files, maria } = await openEdited(options);
    const run = await queue(it);
    const first = await claim(it, ADA);
    await files.edit(EARLIER);

    const { verdict } = await it.project.migrations.migrate(run, files.hash(), maria);

    expect(verdict).toMatchObject({
      blockers: [{ code: 'migration_unproven', message: expect.stringContaining('phase `ASK`') }],
    });
    expect(await it.project.claims.admit(first.token)).toMatchObject({ runId: run });
    expect((await events(it, run)).at(-1)).toBe('command_refused');
    expect(await it.project.verifyAudit()).toMatchObject({ ok: true });
  });
});

test('after a restart the run still has its new workflow, and the audit holds', async () => {
  const { it, files, maria } = await openEdited({ sqlite: true });
  const run = await queue(it);
  await files.edit(LATER);
  await it.project.migrations.migrate(run, files.hash(), maria);
  await it.project.close();

  const again = openWith(TWO, { sqlite: it.folder });

  expect((await again.project.load(run)).workflow).toEqual(files.workflow());
  expect(await again.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  expect(await again.project.claims.claim(ADA, [])).toMatchObject({ view: { run, phase: 'PLAN' } });
});

test('what the workflow of then made of a run is verified by that one, not by the one of now', async () => {
  const phases = [{ id: 'EDIT', parallel: { key: 'areas' } }];
  const params = { areas: { type: 'list' as const } };
  const { it, files, maria } = await openEdited(
    { sqlite: true },
    { phases, params, enforcement: { maxReclaims: 0 } },
  );
  const run = await queue(it, { params: { areas: ['a', 'b'] } });
  await claim(it, ADA);
  await claim(it, BOB);
  await it.project.claims.release(run, BOB, 'exited');
  await files.editTo({ phases, params, enforcement: { maxReclaims: 3 } });

  expect((await it.project.migrations.migrate(run, files.hash(), maria)).verdict).toEqual({ allowed: true });
  expect((await it.project.load(run)).work.items).toMatchObject({ b: { status: 'failed', crashes: 1 } });
  expect(await it.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
});

test('a workflow that a run had before and that was taken from the store is found [adv.M2]', async () => {
  const { it, files, maria } = await openEdited({ sqlite: true });
  const first = files.hash();
  const run = await queue(it);
  await files.edit(LATER);
  await it.project.migrations.migrate(run, files.hash(), maria);
  expect(await it.project.verifyAudit()).toMatchObject({ ok: true });

  const database = new DatabaseSync(join(it.folder, 'state.db'), { enableForeignKeyConstraints: false });
  database.prepare('DELETE FROM workflows WHERE hash = ?').run(first);
  database.close();

  expect(await it.project.verifyAudit()).toMatchObject({
    ok: false,
    findings: [{ kind: 'state_edited', run }],
  });
});

test('files nobody accepted are not migrated to, nor another hash than the human named', async () => {
  const { it, files, maria } = await openEdited();
  const run = await queue(it);
  await files.edit(LATER, 'unread', { trusted: false });

  await expect(it.project.migrations.migrate(run, files.hash(), maria)).rejects.toMatchObject({
    code: 'untrusted_workflow',
  });
  await expect(it.project.migrations.migrate(run, '0'.repeat(64), maria)).rejects.toMatchObject({
    code: 'workflow_unknown',
  });
  await expect(it.project.migrations.migrate(run, files.hash().slice(0, 7), maria)).rejects.toMatchObject({
    code: 'usage',
  });
  await expect(it.project.migrations.migrate('nobody', files.hash(), maria)).rejects.toMatchObject({
    code: 'run_unknown',
  });
  expect((await it.project.load(run)).epoch).toBe(1);
});

test('the command itself is nobody’s to submit, a human’s neither [C18]', async () => {
  const { it, files, maria } = await openEdited();
  const run = await queue(it);
  const [workflow, workflowHash] = [files.workflow(), files.hash()];
  const proof = { reachable: true, trace: [] } as const;
  const command = { kind: 'migrate', workflow, workflowHash, trusted: true, proof } as const;

  for (const principal of [ADA, maria.principal]) {
    await expect(it.project.as(principal).submit(run, command)).rejects.toMatchObject({
      code: 'not_permitted',
    });
  }
});

test('its agent does not read in the audit what lies ahead, a human does', async () => {
  const { it, files, maria } = await openEdited();
  const run = await queue(it);
  await claim(it, ADA);
  await it.project.as(ADA).judgeTool(run, { tool: 'bash', input: { command: 'echo TOKEN' } });
  await files.edit([TWO[0] as PhaseDraft, { id: 'PUBLISH', instructions: 'SECRET OF PUBLISH' }]);
  await it.project.migrations.migrate(run, files.hash(), maria);

  const told = await it.project.as(ADA).history(run);
  const whole = await it.project.as(maria.principal).history(run);

  expect(JSON.stringify(told)).not.toMatch(/SECRET OF PUBLISH|TOKEN|"recorded"/);
  expect(told.map(({ hash: one }) => one)).toEqual(whole.map(({ hash: one }) => one));
  expect(JSON.stringify(whole)).toMatch(/TOKEN.*SECRET OF PUBLISH/);
});

test('work that was done for the workflow of before is not handed in under the new one', async () => {
  const { it, files, maria } = await openEdited();
  const run = await queue(it);
  await claim(it, ADA);
  const worker = it.project.as(ADA, { workflowHash: files.hash() });
  await files.edit(LATER);
  await it.project.migrations.migrate(run, files.hash(), maria);

  const handingIn = worker.submit(run, { kind: 'complete', phase: 'PLAN', evidence: {} });

  await expect(handingIn).rejects.toMatchObject({ code: 'run_changed' });
  expect((await it.project.load(run)).phase).toBe('PLAN');
});

test('the card says what changed and whether it can be done, and changes nothing', async () => {
  const { it, files } = await openEdited();
  const run = await queue(it);
  const from = files.hash();

  expect(await it.project.migrations.card(run)).toMatchObject({
    from,
    to: from,
    verdict: { blockers: [{ code: 'same_workflow' }] },
  });
  await files.edit(LATER, '', { trusted: false });
  const before = await it.store.history(run, { after: 0, limit: 99 });

  expect(await it.project.migrations.card(run)).toEqual({
    run,
    workflow: 'tested',
    path: 'agent_workflow.yaml',
    from,
    to: files.hash(),
    trusted: false,
    phases: [
      { phase: 'PLAN', change: 'changed' },
      { phase: 'PUBLISH', change: 'added' },
      { phase: 'BUILD', change: 'removed' },
    ],
    besides: false,
    verdict: { allowed: true },
    trace: ['start'],
  });
  expect(await it.store.history(run, { after: 0, limit: 99 })).toEqual(before);
});

test('a call the old workflow allowed is waited for', async () => {
  const slow = slowTool();
  const { it, files, maria } = await openEdited({ parts: { tools: async () => [slow.tool] } });
  const run = await queue(it);
  const { token } = await claim(it, ADA);
  const admitted = await it.project.claims.admit(token);
  const call = it.project.toolbox.execute(admitted, [{ tool: 'read_files', input: { path: 'a.md' } }]);
  await slow.began;
  await files.edit(LATER);

  const migrating = it.project.migrations.migrate(run, files.hash(), maria);
  await turns();
  expect((await it.project.load(run)).epoch).toBe(2);
  slow.finish();

  await call;
  expect((await migrating).view.epoch).toBe(3);
});

test('a run that someone changed meanwhile is proven anew', async () => {
  const { it, files, maria } = await openEdited();
  const run = await queue(it);
  await claim(it, ADA);
  await files.edit([...LATER, { id: 'BUILD', instructions: 'build it' }]);
  // It moves on from PLAN to BUILD while its files are read: what was true of PLAN is not of BUILD.
  files.meanwhile(async () => {
    await it.project.as(ADA).submit(run, { kind: 'complete', phase: 'PLAN', evidence: {} });
  });

  expect((await it.project.migrations.migrate(run, files.hash(), maria)).verdict).toMatchObject({
    blockers: [{ code: 'migration_unproven', message: expect.stringContaining('phase `PUBLISH`') }],
  });
});

interface Files {
  workflow(): Workflow;
  hash(): string;
  /** Writes the workflow anew, and has it accepted. */
  edit(
    phases: readonly PhaseDraft[],
    description?: string,
    how?: { readonly trusted: boolean },
  ): Promise<void>;
  editTo(draft: Omit<WorkflowDraft, 'id'>): Promise<void>;
  /** Does this once, when the files are next read. */
  meanwhile(act: () => Promise<void>): void;
}

/** A project with a human, whose workflow can be edited. */
async function openEdited(
  options: MemoryProjectOptions = {},
  draft: Omit<WorkflowDraft, 'id'> = { phases: TWO },
): Promise<{ readonly it: MemoryProject; readonly files: Files; readonly maria: UnlockedHuman }> {
  let workflow = defined(draft);
  let act: (() => Promise<void>) | null = null;
  const hashOf = () => hash('sha256', canonicalJson(workflow as unknown as Json));
  const catalog: Catalog = {
    list: async () => [],
    describe: async () => [],
    validate: async () => ({ checked: [], problems: [], unaccepted: [] }),
    async load() {
      const now = act;
      act = null;
      await now?.();
      const files = { 'agent_workflow.yaml': hashOf() };
      return {
        workflow,
        path: 'agent_workflow.yaml',
        format: 'yaml',
        hash: hashOf(),
        closure: hashOf(),
        files,
        notes: [],
        placeOf: () => null,
      };
    },
  };
  const it = openWith(TWO, { ...options, parts: { catalog, ...options.parts } });
  await it.project.humans.add('maria', 'open sesame', null);
  const maria = await it.project.humans.unlock('maria', 'open sesame');
  const accept = () => it.project.trust.workflows.accept('tested', hashOf(), maria);
  await accept();
  const files: Files = {
    workflow: () => workflow,
    hash: hashOf,
    async edit(phases, description = '', { trusted } = { trusted: true }) {
      workflow = { ...defined({ phases }), description };
      if (trusted) await accept();
    },
    async editTo(next) {
      workflow = defined(next);
      await accept();
    },
    meanwhile(next) {
      act = next;
    },
  };
  return { it, files, maria };
}

function defined(draft: Omit<WorkflowDraft, 'id'>): Workflow {
  const made = defineWorkflow({ id: 'tested', ...draft }, { checks: {} });
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  return made.workflow;
}
