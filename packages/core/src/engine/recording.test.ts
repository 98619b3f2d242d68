import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import type { Command, Facts } from './command.ts';
import type { RunEvent } from './events.ts';
import { ADA, complete, NOW, phases, result, started, submit, workflowOf } from './fixtures/walks.ts';
import {
  eventOfRecord,
  judgedInput,
  readRecording,
  recorded,
  recordedRefusal,
  withoutRecording,
} from './recording.ts';

describe('a recording', () => {
  test('gives back the command, with the evidence that its event tells', () => {
    const { command, events, facts } = completed({ plan: 'x'.repeat(100) });

    const kept = recorded({ command, facts }, events);

    expect(JSON.stringify(kept)).not.toContain('xxx');
    expect(readBack(kept, events)).toEqual({ command, facts: {} });
  });

  test('keeps the evidence of what was refused, and leaves it out beyond 64 KiB', () => {
    const small = refusedWith({ other: 'y' });
    const large = refusedWith({ other: 'y'.repeat(65_536) });

    expect(readBack(recorded(small, small.events), small.events)).toMatchObject({ command: small.command });
    const kept = recorded(large, large.events);
    expect(kept).toEqual({ version: 1, left_out: true });
    expect(readBack(kept, large.events)).toBe('too_large');
  });

  test('never holds what was accepted twice, however large it is', () => {
    const { command, events, facts } = completed({ plan: 'x'.repeat(100_000) });

    expect(recorded({ command, facts }, events)).toEqual({
      version: 1,
      command: { kind: 'complete', phase: 1 },
    });
    expect(readBack(recorded({ command, facts }, events), events)).toMatchObject({ command });
  });

  test("leaves a human's signature where it is, in the decision", () => {
    const gated = workflowOf(
      phases(2, (index) =>
        index === 0 ? { gates: [{ id: 'go', human: { prompt: '?', options: [{ label: 'Yes' }] } }] } : {},
      ),
    );
    const waiting = submit(started(gated), { kind: 'complete', phase: 1, evidence: {} }).run;
    const command: Command = { kind: 'decide', gate: 'go#1', option: 'Yes', shown: 's', signature: 'SIGNED' };
    const { events } = submit(waiting, command, { principal: ADA, shown: 's' });

    const kept = recorded({ command, facts: {} }, events);

    expect(JSON.stringify(kept)).not.toContain('SIGNED');
    expect(readBack(kept, events)).toMatchObject({ command });
  });

  test('keeps of a passed check that it passed, of a failed one also why, and a state only once', () => {
    const state = { seen: 'z'.repeat(50) };
    const facts: Facts = {
      a: { kind: 'check', result: result('passed', 'a long story') },
      b: { kind: 'check', result: result('failed', 'it is red') },
      c: { kind: 'handler', result: { ok: true, outcome: 'ok', state } },
    };
    const event = { ...completed({}).events[0], state } as RunEvent;

    const kept = recorded({ command: { kind: 'expire' }, facts }, [event]);

    expect(JSON.stringify(kept)).not.toMatch(/a long story|zzz/);
    expect(readBack(kept, [event])).toMatchObject({
      facts: { a: { result: { status: 'passed' } }, b: facts.b, c: facts.c },
    });
  });

  test('of a version this one does not know is not guessed at; without one nothing is', () => {
    const { events } = completed({});

    expect(readBack({ version: 2, command: { kind: 'expire' } }, events)).toBe('other_version');
    expect(readRecording({ time: NOW, event: 'run_stopped', data: {} }, events)).toBeUndefined();
  });

  test('is no part of the event it stands with', () => {
    const [event] = completed({ plan: 'x' }).events as [RunEvent];
    const { at, type, ...data } = event;
    const record = { time: at, event: type, data: { ...data, recorded: { version: 1 } } as JsonObject };

    expect(eventOfRecord(record)).toEqual(event);
    expect(eventOfRecord({ ...record, event: 'tool_judged' })).toBeNull();
  });
});

describe('a refusal that changed nothing', () => {
  const decide: Command = { kind: 'decide', gate: 'g', option: 'o', shown: 's', signature: 'SIGNED' };

  test('is recorded where the workflow had a say in it', () => {
    const { recorded: kept } = recordedRefusal({ command: decide, facts: {} }, [{ code: 'not_an_approver' }]);

    expect(kept).toEqual({ version: 1, command: { kind: 'decide', gate: 'g', option: 'o', shown: 's' } });
  });

  test('is not where it was about who asks, or about a card that had changed', () => {
    const done = complete(started(workflowOf(phases(1))), { secret: 'x' });

    expect(recordedRefusal({ command: done, facts: {} }, [{ code: 'not_your_run' }])).toEqual({});
    expect(recordedRefusal({ command: decide, facts: {} }, [{ code: 'shown_changed' }])).toEqual({});
  });
});

describe('of a tool call', () => {
  test.each([
    ['write_files', { path: 'a', content: 'SECRET' }, { path: 'a' }],
    ['edit_file', { paths: ['a', 'b'], new: 'SECRET' }, { paths: ['a', 'b'] }],
    ['bash', { command: 'npm test', env: 'SECRET' }, { command: 'npm test' }],
    ['mcp:mail/send', { path: 'SECRET', command: 'SECRET' }, {}],
  ])('%s keeps what it is judged by and nothing else', (tool, input, kept) => {
    expect(judgedInput({ tool, input })).toEqual(kept);
  });

  test('what is too long is left out, and said to be', () => {
    expect(judgedInput({ tool: 'bash', input: { command: 'x'.repeat(4097) } })).toEqual({ left_out: true });
  });
});

describe('who may not read all of the audit', () => {
  test.each([
    ['phase_refused', { phase: 1, recorded: { version: 1 } }, { phase: 1 }],
    ['run_migrated', { by: 'ada', workflow: { id: 'w' }, recorded: { version: 1 } }, { by: 'ada' }],
    ['tool_judged', { tool: 'bash', input: { command: 'x' } }, { tool: 'bash' }],
    ['run_started', { workflow: 'w', input: 1 }, { workflow: 'w', input: 1 }],
    ['constructor', { workflow: 'w' }, { workflow: 'w' }],
    ['signed_in', ['recorded'], ['recorded']],
  ] as const)('is told of %s what happened, and not from what', (event, data, told) => {
    const record = { time: NOW, event, data: data as unknown as Json, seq: 7 };

    expect(withoutRecording(record)).toEqual({ ...record, data: told });
    expect(record.data).toEqual(data);
  });
});

function completed(evidence: JsonObject) {
  const run = started(workflowOf(phases(2)));
  const command = complete(run, evidence);
  return { command, events: submit(run, command).events, facts: {} };
}

function refusedWith(evidence: JsonObject) {
  const run = started(workflowOf(phases(2, () => ({ fields: [{ name: 'plan', type: 'str' }] }))));
  const command = complete(run, evidence);
  return { command, events: submit(run, command).events, facts: {} };
}

/** As it comes back from a store. */
function readBack(kept: JsonObject, events: readonly RunEvent[]) {
  const told = JSON.parse(JSON.stringify(events)) as readonly RunEvent[];
  const data = { recorded: JSON.parse(JSON.stringify(kept)) as JsonObject };
  return readRecording({ time: NOW, event: told[0]?.type ?? '', data }, told);
}
