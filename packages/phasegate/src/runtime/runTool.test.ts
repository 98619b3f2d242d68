import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { TOOLS } from '../tools/index.ts';
import { codeOf, working } from './fixtures/workingRun.ts';
import type { ToolImplementation } from './ports.ts';

const POLICY = { allowedTools: ['mcp:own/*'] };

describe("an embedder's own tool", () => {
  test('is judged like any other [adv.A5]', async () => {
    const said: JsonObject[] = [];
    const { project, execute } = await working(POLICY);
    const tool = ownTool('mcp:own/say', async (input) => {
      said.push(input);
      return { ok: true, output: 'said' };
    });
    project.toolbox.register(tool);
    project.toolbox.register({ ...tool, name: 'mcp:mail/send' });

    const done = await execute([
      { tool: 'mcp:own/say', input: { text: 'a' } },
      { tool: 'mcp:own/say', input: { text: 7 } },
      { tool: 'mcp:mail/send', input: { text: 'b' } },
    ]);

    expect(done.map(codeOf)).toEqual(['allowed', 'tool_constraint', 'tool_not_allowed']);
    expect(said).toEqual([{ text: 'a' }]);
    expect((await project.toolbox.tools()).map(({ name }) => name)).toEqual([
      ...TOOLS.map(({ name }) => name),
      'mcp:own/say',
      'mcp:mail/send',
    ]);
  });

  test.each([
    ['throws', () => Promise.reject(new Error('no connection\n    at secret/place')), 'broke: no connection'],
    ['gives nothing', async () => undefined, 'gave no result'],
    ['gives what is no JSON', async () => ({ ok: true, output: { n: Number.NaN } }), 'no JSON'],
    ['goes on when it was told to stop', () => new Promise(() => {}), 'took too long'],
  ])(
    'that %s gives a result that is not ok',
    async (_, run, message) => {
      const tool = ownTool('mcp:own/bad', run as unknown as ToolImplementation['run']);
      const { execute } = await working(POLICY, [tool], { timeoutMs: 20 });

      const [done] = await execute([{ tool: 'mcp:own/bad', input: {} }]);

      expect(done).toMatchObject({
        verdict: { allowed: true },
        result: { ok: false, output: { message: expect.stringContaining(message) } },
        receipt: { ok: false },
      });
      expect(JSON.stringify(done)).not.toContain('secret/place');
    },
    20_000,
  );

  test.each(['bash', 'own', 'mcp:own', 'mcp:own/*', 'mcp:/x', 'mcp:a/b/c', 'mcp:a b/c', 'mcp:own/taken'])(
    'cannot be called `%s`',
    async (name) => {
      const { project } = await working(POLICY, [
        ownTool('mcp:own/taken', async () => ({ ok: true, output: null })),
      ]);

      expect(() => project.toolbox.register(ownTool(name, async () => ({ ok: true, output: null })))).toThrow(
        expect.objectContaining({ code: 'usage' }),
      );
    },
  );
});

function ownTool(name: string, run: ToolImplementation['run']): ToolImplementation {
  const input = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false };
  return { name, description: 'A tool of ours', input, run };
}
