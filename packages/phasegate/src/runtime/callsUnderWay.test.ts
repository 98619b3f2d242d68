import { encodeSubmitted, PLAIN } from '@phasegate/wire';
import { describe, expect, test } from 'vitest';
import {
  ADA,
  approve,
  BOB,
  claim,
  done,
  EVE,
  events,
  GATED,
  openWith,
  queue,
} from './fixtures/agentsAtWork.ts';
import type { MemoryProject, MemoryProjectOptions } from './fixtures/openMemoryProject.ts';
import type { Admitted, CallRecord, ToolImplementation } from './ports.ts';
import type { Processes } from './processes.ts';

const WORK = [
  { id: 'PLAN', allowedTools: ['bash'] },
  { id: 'BUILD', allowedTools: ['read_files'] },
];
const COMPLETE = { kind: 'complete', phase: 'PLAN', evidence: {} } as const;
const BASH = [{ tool: 'bash', input: { command: 'make' } }];

/** A tool that goes on until it is let end, or told to end. */
function longBash() {
  const began = Promise.withResolvers<void>();
  const end = Promise.withResolvers<string>();
  const tool: ToolImplementation = {
    name: 'bash',
    description: 'runs',
    input: { type: 'object' },
    async run(_, { signal }) {
      began.resolve();
      signal.addEventListener('abort', () => end.resolve('aborted'));
      return { ok: true, output: await end.promise };
    },
  };
  return { tool, began: began.promise, finish: () => end.resolve('finished') };
}

/** Two processes on one SQLite file, as far as anybody but the operating system can tell. */
function twoProcesses(bash: ToolImplementation, more: MemoryProjectOptions['parts'] = {}) {
  const server = openWith(WORK, { sqlite: true, parts: { tools: async () => [bash], ...more } });
  const other = openWith(WORK, { sqlite: server.folder, parts: more });
  return { server, other };
}

async function admitted(it: MemoryProject): Promise<Admitted> {
  return it.project.claims.admit((await claim(it, ADA)).token);
}

const phaseOf = async ({ store }: MemoryProject, run: string) => (await store.load(run))?.run.phase;
const codesOf = (verdict: { readonly allowed: boolean; readonly blockers?: readonly { code: string }[] }) =>
  verdict.allowed ? [] : verdict.blockers?.map(({ code }) => code);

describe('a phase that another process completes while a call is under way', () => {
  test('is left when the call has ended, and not before: `done` beside a server that runs a `bash` [adv.D4 adv.K7]', async () => {
    const { tool, began, finish } = longBash();
    const { server, other } = twoProcesses(tool);
    const run = await queue(server);
    const call = server.project.toolbox.execute(await admitted(server), BASH);
    await began;
    expect((await other.store.calls(run, null)).under).toMatchObject([{ run, item: null, tool: 'bash' }]);

    const completing = other.project.as(ADA).submit(run, COMPLETE);
    // The clock of the other process has looked at least once by the time its own store has told of a commit.
    await new Promise<void>((resolve) => {
      const stop = other.store.onCommit(() => {
        stop();
        resolve();
      });
      void server.store.note(null, [note()]);
    });
    expect(await phaseOf(server, run)).toBe('PLAN');
    finish();

    expect(await call).toMatchObject([{ result: { output: 'finished' } }]);
    expect((await completing).verdict.allowed).toBe(true);
    expect(await phaseOf(server, run)).toBe('BUILD');
    const order = (await events(server, run)).filter((event) => /executed|completed/.test(event));
    expect(order).toEqual(['tool_executed', 'phase_completed']);
    expect((await other.store.calls(run, null)).under).toEqual([]);
    expect(await other.store.verify()).toMatchObject({ ok: true });
  });

  test('is refused with `calls_under_way` after the limit, which names the call and counts as no attempt', async () => {
    const { tool, began, finish } = longBash();
    const { server, other } = twoProcesses(tool, { waits: { completionMs: 1 } });
    const run = await queue(server);
    const call = server.project.toolbox.execute(await admitted(server), BASH);
    await began;
    const [{ id }] = (await server.store.calls(run, null)).under as [CallRecord];

    const submitted = await other.project.as(ADA).submit(run, COMPLETE);
    const answer = encodeSubmitted(submitted, PLAIN);

    expect(codesOf(submitted.verdict)).toEqual(['calls_under_way']);
    expect(answer).toMatchObject({ checkpoint_passed: false, error: 'calls_under_way', attempt: 0 });
    expect(String(answer.message)).toContain(`\`bash\` (\`${id}\`)`);
    expect(await phaseOf(server, run)).toBe('PLAN');
    expect((await events(server, run)).at(-1)).toBe('command_refused');
    finish();
    await call;
    expect((await other.project.as(ADA).submit(run, COMPLETE)).verdict.allowed).toBe(true);
  });

  test('waits for nobody where it is refused anyway', async () => {
    const { tool, began, finish } = longBash();
    const { server, other } = twoProcesses(tool);
    const run = await queue(server);
    const call = server.project.toolbox.execute(await admitted(server), BASH);
    await began;

    const stranger = await other.project.as(BOB).submit(run, COMPLETE);
    const skipping = await other.project.as(ADA).submit(run, { ...COMPLETE, phase: 'BUILD' });

    expect([codesOf(stranger.verdict), codesOf(skipping.verdict)]).toEqual([
      ['not_your_run'],
      ['phase_sequence_violation'],
    ]);
    finish();
    await call;
  });

  test('goes on at once where the process of the call is dead, or its time is up', async () => {
    const dead = new Set<string>();
    const processes: Processes = {
      self: 'server',
      isGone: (mark) => dead.has(mark),
      endPrograms: () => false,
      callsAround: () => [],
    };
    const { tool } = longBash();
    const { server, other } = twoProcesses(tool, { processes });
    for (const end of [() => dead.add('another'), () => other.pass(3600)]) {
      const run = await queue(server);
      await server.project.claims.claim(ADA, []);
      const { version } = (await server.store.load(run)) ?? { version: 0 };
      const deadline = new Date(Date.parse(server.now()) + 60_000).toISOString();
      const item = null;
      const call = { id: `of-${run}`, run, item, tool: 'bash', process: 'another', deadline, ending: false };
      await server.store.beginCall(call, version, []);

      end();
      expect((await other.project.as(ADA).submit(run, COMPLETE)).verdict.allowed).toBe(true);
      expect((await other.store.calls(run, null)).under).toEqual([]);
      dead.clear();
    }
  });
});

describe('what is asked for from inside a call', () => {
  test('is refused at once, where a program of the call asks in a process of its own', async () => {
    const { tool, began, finish } = longBash();
    let around: readonly string[] = [];
    const processes: Processes = {
      self: 'one',
      isGone: () => false,
      endPrograms: () => false,
      callsAround: () => around,
    };
    const { server, other } = twoProcesses(tool, { processes });
    const run = await queue(server);
    const call = server.project.toolbox.execute(await admitted(server), BASH);
    await began;
    around = (await server.store.calls(run, null)).under.map(({ id }) => id);

    const { verdict } = await other.project.as(ADA).submit(run, COMPLETE);

    expect(codesOf(verdict)).toEqual(['calls_under_way']);
    expect(JSON.stringify(verdict)).toContain('asked for by a tool call');
    finish();
    await call;
  });

  test('is refused at once, where the tool itself asks', async () => {
    const asked = Promise.withResolvers<readonly string[] | undefined>();
    const it = openWith(WORK, { parts: { tools: async () => [tool] } });
    const run = await queue(it);
    const tool: ToolImplementation = {
      name: 'bash',
      description: 'completes its own phase',
      input: { type: 'object' },
      async run() {
        asked.resolve(codesOf((await it.project.as(ADA).submit(run, COMPLETE)).verdict));
        return { ok: true, output: null };
      },
    };
    await it.project.toolbox.execute(await admitted(it), BASH);
    expect(await asked.promise).toEqual(['calls_under_way']);
    expect(await phaseOf(it, run)).toBe('PLAN');
  });
});

describe('a call that is carried out', () => {
  test('waits for the disk with its verdict and with its record, and no third time', async () => {
    const { tool, finish } = longBash();
    finish();
    const { server } = twoProcesses(tool);
    await queue(server);
    const hand = await admitted(server);
    let commits = 0;
    const stop = server.store.onCommit(() => {
      commits += 1;
    });
    await server.project.toolbox.execute(hand, BASH);
    stop();
    expect(commits).toBe(2);
  });

  test('is not begun in a phase that was left while it was judged, and is not on record', async () => {
    const { tool } = longBash();
    const { server, other } = twoProcesses(tool);
    const run = await queue(server);
    const hand = await admitted(server);
    const { load } = server.parts.store;
    // The other process completes the phase between the look at the run and the verdict.
    let moved = false;
    Object.assign(server.parts.store, {
      async load(runId: string) {
        const stored = await load(runId);
        if (!moved) {
          moved = true;
          await other.project.as(ADA).submit(run, COMPLETE);
        }
        return stored;
      },
    });

    const call = server.project.toolbox.execute(hand, BASH);

    await expect(call).rejects.toMatchObject({ code: 'token_dead' });
    expect(await events(other, run)).not.toContain('tool_judged');
    expect((await other.store.calls(run, null)).under).toEqual([]);
  });
});

describe('calls that somebody ends', () => {
  test('a human’s stop ends them, also those of another process, and the run is stopped', async () => {
    const { tool, began } = longBash();
    const { server, other } = twoProcesses(tool);
    const run = await queue(server);
    const call = server.project.toolbox.execute(await admitted(server), BASH);
    await began;

    const { verdict } = await other.project.as(EVE).submit(run, { kind: 'stop', reason: 'enough' });

    expect(verdict.allowed).toBe(true);
    expect((await other.store.calls(run, null)).under).toEqual([]);
    expect(await call).toMatchObject([{ result: { output: 'aborted' } }]);
    expect((await server.store.load(run))?.run.status).toBe('stopped');
  });

  test('are left alone by a stop that is not a human’s', async () => {
    const { tool, began, finish } = longBash();
    const { server, other } = twoProcesses(tool);
    const run = await queue(server);
    const call = server.project.toolbox.execute(await admitted(server), BASH);
    await began;

    const { verdict } = await other.project.as(ADA).submit(run, { kind: 'stop', reason: 'enough' });
    finish();

    expect(codesOf(verdict)).toEqual(['not_a_human']);
    expect(await call).toMatchObject([{ result: { output: 'finished' } }]);
  });

  test('nobody claims a run in which the calls of its last agent go on', async () => {
    const it = openWith(WORK);
    const run = await queue(it);
    const version = (await it.store.load(run))?.version ?? 0;
    const call = { id: 'c', run, item: null, tool: 'bash', process: 'x', ending: false };
    await it.store.beginCall({ ...call, deadline: '2099-01-01T00:00:00.000Z' }, version, []);

    expect(await it.project.claims.claim(BOB, [])).toBeNull();
    await expect(it.project.claims.claimRun(run, BOB, [])).rejects.toMatchObject({ code: 'not_permitted' });
    await it.store.endCall({ id: 'c', run }, []);
    expect(await it.project.claims.claim(BOB, [])).toMatchObject({ view: { run } });
  });

  test('a human decides at a gate past the calls of an agent that goes on reading', async () => {
    const it = openWith(GATED, { parts: { waits: { endMs: 1 } } });
    const run = await queue(it);
    await done(it, await claim(it, ADA));
    const version = (await it.store.load(run))?.version ?? 0;
    const call = { id: 'c', run, item: null, tool: 'read_files', process: 'x', ending: false };
    await it.store.beginCall({ ...call, deadline: '2099-01-01T00:00:00.000Z' }, version, []);

    await approve(it, run);

    expect(await phaseOf(it, run)).toBe('BUILD');
    expect((await it.store.calls(run, null)).under).toEqual([]);
  });
});

function note() {
  const data = { why: 'something is written' };
  return {
    time: '2026-11-15T12:00:00.000Z',
    principal: 'engine:phasegate',
    event: 'start_refused' as const,
    data,
  };
}
