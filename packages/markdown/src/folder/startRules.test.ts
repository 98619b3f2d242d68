import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errorsOf, type FolderProject, makeProject } from './fixtures/project.ts';

let project: FolderProject;
beforeEach(() => {
  project = makeProject();
});
afterEach(() => project.remove());

describe('what a folder says about starting its runs', () => {
  test('may say that there is one run at a time, and is told where it says something else', async () => {
    const phase = { 'phases/1/phase.md': 'Text', 'phases/1/task-1.md': 'Task' };
    await write({ 'metadata.json': { workflow_type: 'demo', one_run_per: 'target' }, ...phase });
    const good = await project.load();
    await write({ 'metadata.json': { workflow_type: 'demo', one_run_per: 'file' } });

    expect(good.workflow?.oneRunPer).toBe('target');
    expect(errorsOf(good)).toEqual([]);
    expect(errorsOf(await project.load())).toEqual([
      expect.stringMatching(/metadata\.json:\d+:\d+ bad_value$/),
    ]);
  });

  test('may keep for humans who starts it and what is set, and is told where it cannot [adv.N14]', async () => {
    const phase = { 'phases/1/phase.md': 'Text', 'phases/1/task-1.md': 'Task' };
    const params = { limit: { type: 'integer', default: 3, set_by: 'human' } };
    await write({ 'metadata.json': { workflow_type: 'demo', start: 'human', params }, ...phase });
    const good = await project.load();
    const wrong = { limit: { ...params.limit, set_by: 'me' } };
    await write({ 'metadata.json': { workflow_type: 'demo', start: 'humans', params: wrong } });

    expect(good.workflow).toMatchObject({ start: 'human', params: { limit: { setBy: 'human' } } });
    expect(errorsOf(await project.load())).toEqual([
      expect.stringMatching(/metadata\.json:\d+:\d+ bad_value$/),
      expect.stringMatching(/metadata\.json:\d+:\d+ bad_value$/),
    ]);
  });
});

async function write(files: Readonly<Record<string, string | object>>): Promise<void> {
  const texts = Object.entries(files).map(([path, value]) => [
    `workflows/demo/${path}`,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  await project.write(Object.fromEntries(texts));
}
