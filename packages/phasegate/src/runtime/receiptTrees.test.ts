import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTestProject } from './fixtures/openTestProject.ts';
import type { Admitted, OpenProject } from './ports.ts';

const WORKFLOW = `workflow: lab
phases:
  A:
    allowed_tools: [bash, write_files]
    writes: ["src/**"]
    postconditions: [{ check: command, with: { shell: "test -f src/a.txt" }, message: it must be there }]
  B: {}
`;
const ADA = { kind: 'agent', name: 'ada' } as const;

test('a receipt of a program is bound to what the workspace held before and after it', async () => {
  const { project, admitted } = await working();
  const bash = (command: string) => receiptOf(project, admitted, { tool: 'bash', input: { command } });

  const looked = await bash('ls src');
  const wrote = await bash('echo two > src/a.txt');
  const undone = await bash('echo one > src/a.txt');
  const moded = await bash('chmod 755 src/a.txt');
  const ignored = await bash('echo x > left.log');

  expect(looked.tree).toMatch(/^[0-9a-f]{64}$/);
  expect(looked.tree_before).toBe(looked.tree);
  expect(wrote.tree_before).toBe(looked.tree);
  expect(wrote.tree).not.toBe(looked.tree);
  // The same files have the same hash, whenever they were written.
  expect(undone.tree).toBe(looked.tree);
  expect(moded.tree).not.toBe(looked.tree);
  expect(ignored.tree).toBe(moded.tree);
});

test('a file that somebody else changed between two programs shows', async () => {
  const { project, admitted, root } = await working();
  const bash = () => receiptOf(project, admitted, { tool: 'bash', input: { command: 'true' } });

  const first = await bash();
  await writeFile(join(root, 'src/a.txt'), 'by hand\n');
  const second = await bash();

  expect(second.tree_before).not.toBe(first.tree);
});

test('a tool that runs no program has none', async () => {
  const { project, admitted } = await working();
  const input = { path: 'src/b.txt', content: 'b' };

  const written = await receiptOf(project, admitted, { tool: 'write_files', input });

  expect(written.tree).toBe(null);
  expect(written).not.toHaveProperty('tree_before');
});

test('checks that the engine runs are on record with the same hash', async () => {
  const { project, admitted } = await working();
  const ran = await receiptOf(project, admitted, { tool: 'bash', input: { command: 'true' } });

  await project.as(ADA).submit(admitted.runId, { kind: 'complete', phase: 'A', evidence: {} });

  const records = await project.as({ kind: 'human', name: 'maria' }).history(admitted.runId, {});
  const judged = records.filter(({ data }) => JSON.stringify(data).includes(`"state":"${ran.tree}"`));
  expect(judged.map(({ event }) => event)).toEqual(['phase_completed']);
});

async function working() {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-receipts-'));
  const root = join(folder, 'project');
  const state = join(folder, 'state');
  await mkdir(join(root, 'src'), { recursive: true });
  await writeFile(join(root, 'lab.workflow.yaml'), WORKFLOW);
  await writeFile(join(root, '.gitignore'), '*.log\n');
  await writeFile(join(root, 'src/a.txt'), 'one\n');
  const project = await (
    await openTestProject({ projectDir: root, env: { PATH: process.env.PATH, XDG_STATE_HOME: state } })
  ).open();
  onTestFinished(async () => {
    await project.close();
    await rm(folder, { recursive: true, force: true });
  });
  const { view } = await project.as(ADA).start({ workflow: 'lab', queue: true });
  const claimed = await project.claims.claimRun(String(view?.run), ADA, []);
  return { project, root, admitted: await project.claims.admit(claimed.token) };
}

async function receiptOf(
  project: OpenProject,
  admitted: Admitted,
  call: Parameters<OpenProject['toolbox']['execute']>[1][number],
) {
  const [done] = await project.toolbox.execute(admitted, [call]);
  if (done?.receipt == null) throw new Error(JSON.stringify(done));
  return done.receipt;
}
