import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLocalProject } from '../../localProject.ts';
import type { OpenProject } from '../../runtime/ports.ts';

const DESIGNED = readFileSync(
  new URL('../../../../sdk/src/fixtures/editing.workflow.ts', import.meta.url),
  'utf8',
);
const PARAMS = 'params: { book: {}, analysisPath: {}, previousVersionId: {} },';

const base = mkdtempSync(join(tmpdir(), 'phasegate-editing-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe('the workflow of design 3 exactly as it is written', () => {
  const { start } = opened('verbatim', DESIGNED);

  test('does not start without a book: a param nobody declared is no book [S3.57]', async () => {
    const refused = await start({});

    expect(refused).toEqual([
      expect.stringMatching(
        /^precondition_failed Book not found \(there is no `book` in `ctx`; it has .*; declare `book` in `params` of the workflow\)$/,
      ),
      expect.stringMatching(/^precondition_failed No analysis file \(there is no `analysisPath` in `ctx`/),
    ]);
  });

  test('cannot be given a book before it declares one', async () => {
    expect(await start({ book: 'moby-dick' })).toEqual([
      'param_invalid there is no param `book`: the workflow has none',
    ]);
  });
});

describe('the workflow of design 3 with its params declared', () => {
  const { start } = opened('declared', DESIGNED.replace('steps: [', `${PARAMS}\n  steps: [`));

  test('does not start without a book, in the words of its author [S3.57]', async () => {
    expect(await start({})).toEqual([
      'precondition_failed Book not found',
      'precondition_failed No analysis file',
    ]);
    expect(await start({ book: 'moby-dick' })).toEqual(['precondition_failed No analysis file']);
  });

  test('starts with one', async () => {
    expect(await start({ book: 'moby-dick', analysisPath: 'analysis.json' })).toEqual([]);
  });
});

/** Starts runs of a definition in a project of its own; gives why one was refused. */
function opened(name: string, source: string) {
  let project: OpenProject;
  beforeAll(async () => {
    const projectDir = mkdtempSync(join(base, name));
    writeFileSync(join(projectDir, 'editing.workflow.ts'), source);
    const env = { ...process.env, HOME: base, XDG_STATE_HOME: join(base, 'state') };
    project = await (await openLocalProject({ projectDir, env })).open();
  });
  afterAll(() => project.close());
  return {
    async start(params: JsonObject): Promise<readonly string[]> {
      const { verdict } = await project
        .as({ kind: 'agent', name: 'local' })
        .start({ workflow: 'w1_editing', params });
      return verdict.allowed ? [] : verdict.blockers.map(({ code, message }) => `${code} ${message}`);
    },
  };
}
