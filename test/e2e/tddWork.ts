import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DemoProject } from '../../examples/tdd/demoProject.ts';
import { HONEST_WALK } from '../../examples/tdd/honestWalk.ts';

const PARTS = fileURLToPath(new URL('../../examples/tdd/agent', import.meta.url));

/** Does the work of one phase of examples/tdd, and calls the command line as an honest agent would. */
export async function doPhase(
  { root, run, phase }: { readonly root: string; readonly run: string; readonly phase: string },
  call: (words: readonly string[], evidence: object | undefined) => unknown,
): Promise<void> {
  for (const step of HONEST_WALK.filter((one) => one.call(run).includes(phase))) {
    const { evidence } = await step.calling(workspaceAt(root) as DemoProject, run);
    await call([...step.call(run), ...(evidence === undefined ? [] : ['--evidence', '-'])], evidence);
  }
}

function workspaceAt(root: string): Pick<DemoProject, 'place' | 'runTests'> {
  return {
    place(file, path) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      copyFileSync(join(PARTS, file), join(root, path));
    },
    async runTests() {
      const options = { cwd: join(root, 'test'), encoding: 'utf8' } as const;
      const { stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], options);
      const count = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1]);
      return {
        command: 'npm test',
        total: count('tests'),
        passed: count('pass'),
        failed: count('fail'),
        skipped: count('skipped'),
      };
    },
  };
}
