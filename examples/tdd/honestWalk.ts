import type { Called, Calling, DemoProject } from './demoProject.ts';
import { implementation, PLAN, REPORT, REVIEW, TESTS } from './evidence.ts';

/** The passphrase of the human who approves. */
export const PASSPHRASE = 'correct horse battery staple';

/** One step of a walk that does the work: what to call, and how one sees that it took effect. */
export interface Step {
  readonly name: string;
  call(run: string): readonly string[];
  readonly calling: (project: DemoProject, run: string) => Promise<Calling>;
  /** The status and phase of the run afterwards; null where neither changes. */
  readonly leadsTo: readonly [status: string, phase: string | null] | null;
}

/** Sets up the human and accepts the workflow. */
export async function setUpProject(project: DemoProject): Promise<void> {
  for (const words of [
    ['init', '--name', 'maria', '--yes'],
    ['trust', 'tdd', '--yes'],
  ]) {
    const { code, text } = await project.phasegate(words, { passphrase: PASSPHRASE });
    if (code !== 0) throw new Error(`\`${words.join(' ')}\` failed: ${text}`);
  }
}

/** Every step from the plan to the end, each in a process of its own. */
export const HONEST_WALK: readonly Step[] = [
  task('PLAN', '1'),
  task('PLAN', '2'),
  done('PLAN', ['waiting', 'PLAN'], async () => ({ plan: PLAN })),
  {
    name: 'approve the plan',
    call: (run) => ['decide', run, '--option', 'Approve'],
    calling: async (project, run) => ({
      passphrase: PASSPHRASE,
      shown: shownBy(await project.phasegate(['status', run])),
    }),
    leadsTo: ['active', 'TDD'],
  },
  done('TDD', ['active', 'IMPL'], async (project) => {
    project.place('slugify.test.js', 'test/slugify.test.js');
    return { tests: TESTS, test_run_result: await project.runTests() };
  }),
  done('IMPL', ['active', 'REVIEW'], async (project) => {
    project.place('slugify.js', 'src/slugify.js');
    return implementation(await project.runTests());
  }),
  task('REVIEW', '1'),
  done('REVIEW', ['active', 'COMPLETE'], async () => ({ review: REVIEW })),
  done('COMPLETE', ['completed', null], async () => ({ report: REPORT })),
];

/** The hash of the gate card, as `status` tells it. */
export function shownBy({ json }: Called): string {
  return String(Object(json.gate).shown);
}

function task(phase: string, number: string): Step {
  return {
    name: `read task ${number} of ${phase}`,
    call: (run) => ['task', run, phase, number],
    calling: async () => ({}),
    leadsTo: null,
  };
}

function done(
  phase: string,
  leadsTo: readonly [string, string | null],
  evidence: (project: DemoProject) => Promise<object>,
): Step {
  return {
    name: `complete ${phase}`,
    call: (run) => ['done', run, '--phase', phase],
    calling: async (project) => ({ evidence: await evidence(project) }),
    leadsTo,
  };
}
