import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ring } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { grep } from '../tools/grep.ts';
import { readFiles } from '../tools/readFiles.ts';
import { working } from './fixtures/workingRun.ts';
import { contextFor } from './toolContext.ts';

test('tools show no definition to an agent that is held in a sandbox, and to others they do', async () => {
  const { project, run: id, workspace } = await working({ allowedTools: ['read_files', 'grep'] });
  for (const name of ['agent_workflow.yaml', 'notes.md']) writeFileSync(join(workspace, name), 'the law');
  const run = await project.load(id);
  const signal = new AbortController().signal;
  const around = { workspace, signal, enclose: undefined, isProtected: () => false, call: 'call-1' };
  const inRing = async (ring: Ring) => {
    const context = (tool: string) => contextFor({ ...run, ring }, tool, around);
    return {
      read: await readFiles.run({ paths: ['agent_workflow.yaml', 'notes.md'] }, context('read_files')),
      searched: JSON.stringify((await grep.run({ pattern: 'law' }, context('grep'))).output),
    };
  };

  const held = await inRing('sandboxed');
  const served = await inRing('served');

  expect(held.read).toMatchObject({
    ok: false,
    output: { files: [{ error: 'not_shown' }, { content: 'the law' }] },
  });
  expect(held.searched).not.toContain('agent_workflow');
  expect(held.searched).toContain('notes.md');
  expect(served.read.ok).toBe(true);
  expect(served.searched).toContain('agent_workflow');
});
