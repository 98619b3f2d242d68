import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { type Connected, connect, ERAS, makeTestBed } from './fixtures/connect.ts';

const WORKFLOW = `workflow: large
phases:
  WRITE: { instructions: Write it., writes: [] }
  READ: { instructions: Read it., writes: [] }
  END: { instructions: Stop., writes: [], next: null }
`;
const REPORT = `"quoted" \n${'"'.repeat(300_000)}`;

describe.each(ERAS)('over MCP in the %s era', (era) => {
  test('no answer is larger than 100 KB, text and structure together, and the rest is read in pages [adv.O4]', async () => {
    const { call, client, session_id } = await started(era);
    const evidence = { report: REPORT, many: Array.from({ length: 20_000 }, (_, index) => `item ${index}`) };

    const left = await call('complete_phase', { session_id, phase: 'WRITE', evidence });
    expect(left).toMatchObject({ checkpoint_passed: true, next_phase: 'READ', truncated: true });
    const calls = [
      ['get_current_phase', { session_id }],
      ['get_phase', { session_id, phase: 'WRITE' }],
      ['get_phase', { session_id, phase: 'END' }],
      ['get_workflow_state', { session_id }],
      ['start_workflow', { workflow_type: 'large' }],
      ['complete_phase', { session_id, phase: 'READ', evidence: 'x' }],
    ] as const;
    for (const [name, args] of calls)
      expect(await sizeOf(client, name, args), name).toBeLessThanOrEqual(100_000);

    const phase = await call('get_current_phase', { session_id });
    expect(phase).toMatchObject({
      truncated: true,
      phase: 'READ',
      phase_content: expect.stringContaining('Read it.'),
      truncated_parts: expect.arrayContaining([expect.stringContaining('artifacts_from_previous')]),
    });
    const whole = await readOn(client, call, phase);
    expect(whole).toMatchObject({ phase: 'READ', artifacts_from_previous: { WRITE: { report: REPORT } } });
  });
});

test('the resource of a phase is within the limit, too [adv.O4]', async () => {
  const { call, client, session_id } = await started('legacy');
  await call('complete_phase', { session_id, phase: 'WRITE', evidence: { report: REPORT } });

  const { contents } = await client.readResource({ uri: `phasegate://runs/${session_id}/phase` });

  expect(JSON.stringify(contents).length).toBeLessThanOrEqual(100_200);
});

async function started(era: (typeof ERAS)[number]) {
  const bed = await makeTestBed({ 'agent_workflow.yaml': WORKFLOW });
  const kept = bed.open.answers;
  const answers = {
    keep: (text: string) => kept.keep('local', text),
    page: (id: string, page: number) => kept.page('local', id, page),
  };
  const connected = await connect({ ...bed.parts(), answers }, { era });
  const { session_id = '' } = await connected.call('start_workflow', { workflow_type: 'large' });
  return { ...connected, session_id: String(session_id) };
}

async function sizeOf(client: Connected['client'], name: string, args: object): Promise<number> {
  const { content, structuredContent } = await client.callTool({ name, arguments: { ...args } });
  return Buffer.byteLength(JSON.stringify({ content, structuredContent }));
}

async function readOn(
  client: Connected['client'],
  call: Connected['call'],
  cut: JsonObject,
): Promise<JsonObject> {
  const rest_id = /rest_id="([^"]+)", page=1\)$/.exec(String(cut.rest))?.[1] ?? '';
  let text = '';
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    expect(await sizeOf(client, 'read_more', { rest_id, page })).toBeLessThanOrEqual(100_000);
    const got = await call('read_more', { rest_id, page });
    pages = Number(got.pages);
    text += String(got.text);
  }
  return JSON.parse(text) as JsonObject;
}
