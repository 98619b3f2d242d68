import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judgeTool, type Run, type Workflow } from '@phasegate/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { demoPicture } from '../../docs/pictures/demoPicture.ts';
import { knownChecks } from '../../packages/phasegate/src/checks/index.ts';
import { createYamlLoader } from '../../packages/phasegate/src/loaders/yaml/yamlLoader.ts';
import { callHere, descriptorOf } from '../../test/e2e/callHere.ts';
import { FULL, someOf } from '../../test/tier.ts';
import { type Called, type Calling, type DemoProject, makeDemoProject } from './demoProject.ts';
import { HONEST_WALK, type Step, setUpProject } from './honestWalk.ts';
import { performDemo } from './performDemo.ts';
import { runDemo } from './runDemo.ts';

// Dozens of processes, on a machine that may be busy.
const LONG = 240_000;
const HERE = fileURLToPath(new URL('.', import.meta.url));
const PICTURE = fileURLToPath(new URL('../../docs/pictures/demo.svg', import.meta.url));
// What a terminal is told colours with.
const CODES = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');

describe('the demo', () => {
  let demo: Awaited<ReturnType<typeof runDemo>>;
  let poor: typeof demo;
  beforeAll(async () => {
    const terminal = { LANG: 'C.UTF-8', FORCE_COLOR: '1' };
    // As a reader runs it, before it counts: some sixty processes that print what is printed here.
    demo = await (FULL ? runDemo(terminal) : runHere(terminal));
    poor = FULL
      ? await runHere({ LANG: 'C', FORCE_COLOR: '1', NO_COLOR: '1' })
      : { ...demo, text: plain(demo.text) };
  }, LONG);

  test('in the ring served, an agent that cheats at every phase is refused at each, and the audit verifies [S0.1 S0.15 S0.44 S0.67 S0.68 S2.6 S2.32 C3 C5 C18 adv.G9 adv.H1 adv.I1 adv.I2 adv.J1 adv.K6]', () => {
    const { code, text } = poor;

    const ticks = text.split('\n').filter((line) => /^.{9}\+ (?:agent|human) /.test(line)).length;
    expect(text).toContain(`27 cheats refused, ${ticks} acts allowed, 0 unexpected`);
    expect(code).toBe(0);
    for (const refusal of REFUSALS) expect(text).toMatch(refusal);
    expect(text).toMatch(/reports what was done +All phases complete/);
    expect(text).toMatch(/The audit verifies: \d+ records of 1 run/);
  });

  test('its transcript fits a terminal of 80 columns and says how to go on in another project', () => {
    const lines = poor.text.trimEnd().split('\n');

    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(54);
    expect(lines.filter((line) => /^.{9}x agent /.test(line))).toHaveLength(27);
    expect(lines.slice(-3).map((line) => line.trim().split(' ').slice(0, 2).join(' '))).toEqual([
      'phasegate init',
      'phasegate start',
      'phasegate mcp',
    ]);
    expect(lines.at(-5)).toContain('`npm run pack`');
    expect(lines.at(-2)).toContain('phasegate start tdd "add subtract" ');
  });

  test.runIf(FULL)(
    'cheats are red with a cross and work is green with a tick; without colour or UTF-8, in letters alone',
    () => {
      expect(demo.code).toBe(0);
      expect(demo.text.split('\u001b[31m✗\u001b[0m agent ')).toHaveLength(28);
      expect(demo.text).toContain('\u001b[32m✓\u001b[0m human approves the plan');
      expect(poor.text).toBe(plain(demo.text));
      expect(poor.text).toMatch(/^[\n -~]*$/);
    },
  );

  test('its transcript names no place of this machine', () => {
    expect(poor.text).not.toMatch(/(?:^|[\s`'"])\/(?:home|root|tmp|Users|var|work)\//m);
  });

  test('docs/pictures/demo.svg is what the demo prints, needs nothing from elsewhere, and can stand still', () => {
    const renew =
      'docs/pictures/demo.svg is stale: run `npm run build && npx node docs/pictures/writeDemo.ts`';
    const svg = readFileSync(PICTURE, 'utf8');

    expect(svg === demoPicture(demo.text), renew).toBe(true);
    expect(svg).not.toMatch(/<script|<image|href|url\(|@import/);
    expect(svg).toContain('@media (prefers-color-scheme:dark)');
    expect(svg).toMatch(
      /^[^@]*@media \(prefers-color-scheme:dark\)\{[^@]*@media \(prefers-reduced-motion:no-preference\)\{@keyframes/,
    );
    // A reader who sees the first frame alone sees the beginning as it is, and the rest pale.
    expect(svg).toMatch(/@keyframes k8\{/);
    expect(svg).not.toMatch(/@keyframes k[0-7]\{|opacity:0[^.]/);
    expect(svg.length).toBeLessThan(20_000);
  });
});

describe('the workflow', () => {
  const loading = load();

  test('loads without a problem or a note, and its closure holds the schemas [S2.11 S2.52 S2.84]', async () => {
    const { problems, files, workflow } = await loading;

    expect(problems).toEqual([]);
    expect(workflow?.phases.map((phase) => phase.id)).toEqual(['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE']);
    expect(Object.keys(files).sort()).toEqual([
      'agent_workflow.yaml',
      'schemas/plan.json',
      'schemas/review.json',
      'schemas/test_run.json',
    ]);
  });

  test.each(toolUses())('%s: %s %s is %s [S2.14 S2.42 S2.43 S2.44]', async (phase, tool, on, verdict) => {
    const { workflow } = await loading;

    const judged = judgeTool(runIn(workflow as Workflow, phase), {
      tool,
      input: tool === 'bash' || tool === 'git' ? { command: on } : { path: on },
    });

    expect(judged.allowed ? 'allowed' : judged.blockers[0].code).toBe(verdict);
  });
});

test.runIf(FULL)(
  'a walk killed with SIGKILL at every transition ends as one that is left in peace [S0.37 S0.40 S0.52 S0.69 S3.44 S3.47 C25 adv.K5]',
  async () => {
    const peaceful = await walk(leaveAlone);

    const killed = await walk(killAlongTheWay(peaceful.durations));

    expect(peaceful.final).toMatchObject({
      status: 'completed',
      phase: null,
      completed_phases: ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'],
      attempts: 0,
    });
    expect(withoutReceipts(killed.final)).toEqual(withoutReceipts(peaceful.final));
    // A check whose process died before the phase was saved is run again, and both runs are on record.
    const once = killed.events.filter(
      (event, at) => !event.startsWith('check_executed') || event !== killed.events[at - 1],
    );
    expect(once).toEqual(peaceful.events);
    expect([peaceful.audit, killed.audit]).toEqual([
      { ok: true, runs: 1, findings: [] },
      { ok: true, runs: 1, findings: [] },
    ]);
    // Each of the seven was killed at least as soon as it was there.
    expect(killed.kills).toBeGreaterThanOrEqual(7);
  },
  LONG,
);

// What must stand in the transcript: at each phase at least one way to cheat, with the code it is refused with.
const REFUSALS: readonly RegExp[] = [
  /starts what nobody accepted +untrusted_workflow$/m,
  /adds a human of its own +credential_invalid$/m,
  /completes the last phase first +phase_sequence_violation$/m,
  /reads what the review will ask +phase_sequence_violation$/m,
  /hands in nothing +incomplete_checkpoint$/m,
  /plans without reading the tasks +tasks_not_fetched$/m,
  /plans to change everything +check_failed$/m,
  /goes on while the human reads +run_waiting$/m,
  /approves its own plan +usage$/m,
  /guesses the passphrase +credential_invalid$/m,
  /edits the rules and starts over +untrusted_workflow$/m,
  /goes on with its own rules +scope_violation$/m,
  /claims tests that pass +check_failed$/m,
  /writes half, claims tests pass +check_failed$/m,
  /skips the failing test instead +scope_violation$/m,
  /claims it once more +escalated$/m,
  /gives itself another try +usage$/m,
  /approves without reading +tasks_not_fetched$/m,
  /approves what must be fixed +precondition_failed$/m,
  /says the review is done +phase_sequence_violation$/m,
  /breaks it after the review +scope_violation$/m,
  /reports it once more +run_ended$/m,
];

function toolUses(): readonly [string, string, string, string][] {
  return [
    ['PLAN', 'read_files', 'src/slugify.js', 'allowed'],
    ['PLAN', 'write_files', 'src/slugify.js', 'tool_forbidden'],
    ['PLAN', 'bash', 'npm test', 'tool_forbidden'],
    ['TDD', 'write_files', 'test/slugify.test.js', 'allowed'],
    ['TDD', 'write_files', 'src/slugify.js', 'tool_constraint'],
    ['TDD', 'edit_file', 'test/setup.js', 'tool_constraint'],
    ['TDD', 'bash', 'npm test', 'allowed'],
    ['TDD', 'bash', 'npm test && rm -rf src', 'tool_constraint'],
    ['TDD', 'git', 'git commit -am done', 'tool_forbidden'],
    ['IMPL', 'write_files', 'src/slugify.js', 'allowed'],
    ['IMPL', 'edit_file', 'test/slugify.test.js', 'outside_write_scope'],
    ['IMPL', 'write_files', 'agent_workflow.yaml', 'outside_write_scope'],
    ['IMPL', 'fetch', 'https://example.org', 'tool_forbidden'],
    ['REVIEW', 'git', 'git diff HEAD', 'allowed'],
    ['REVIEW', 'git', 'git push', 'tool_constraint'],
    ['REVIEW', 'bash', 'npm test', 'tool_not_allowed'],
    ['COMPLETE', 'edit_file', 'src/slugify.js', 'tool_forbidden'],
  ];
}

/** The same without colours, in letters alone. */
function plain(text: string): string {
  const letters = text.replaceAll(CODES, '').replaceAll('✗', 'x').replaceAll('✓', '+');
  return letters.replaceAll(/ +$/gm, '');
}

/** The demo in this process: its acts are the same, and they are called without starting the command each time. */
async function runHere(env: NodeJS.ProcessEnv): ReturnType<typeof runDemo> {
  let text = '';
  const print = (line: string) => {
    text += `${line}\n`;
  };
  const code = await performDemo(calledHere(makeDemoProject()), { env, isTty: true, print });
  return { code, text };
}

function calledHere(project: DemoProject): DemoProject {
  return { ...project, phasegate: (words, calling) => here(project, words, calling) };
}

async function here(
  { root, env }: DemoProject,
  words: readonly string[],
  { evidence, passphrase, shown }: Calling = {},
): Promise<Called> {
  const all = [
    ...words,
    ...(evidence === undefined ? [] : ['--evidence', '-']),
    ...(shown === undefined ? [] : ['--shown', shown]),
    ...(passphrase === undefined
      ? []
      : ['--passphrase-fd', String(descriptorOf(`${passphrase}\n`, dirname(root)))]),
    '--json',
  ];
  const stdin = evidence === undefined ? '' : JSON.stringify(evidence);
  const { code, stdout, stderr } = await callHere({ words: all, cwd: root, env, stdin });
  return { code, text: stdout + stderr, json: stdout === '' ? {} : JSON.parse(stdout) };
}

function load() {
  const loader = createYamlLoader({ known: { checks: knownChecks() } });
  return loader.load({ root: HERE, path: 'agent_workflow.yaml' });
}

function runIn(workflow: Workflow, phase: string): Run {
  return { status: 'active', phase, workflow } as unknown as Run;
}

/** Carries out one call, perhaps killing it on the way, and says how often it did. */
type Carrier = (name: string, attempt: (killing: Calling) => Promise<boolean>) => Promise<number>;

/** Each run of a program has a receipt of its own. */
function withoutReceipts(final: unknown): unknown {
  return JSON.parse(JSON.stringify(final).replaceAll(/receipt-[0-9a-f]+/g, 'receipt'));
}

const leaveAlone: Carrier = async (name, attempt) => {
  if (!(await attempt({}))) throw new Error(`${name}: left alone, it did not take effect`);
  return 0;
};

/** Kills each call ever later, by parts of the time it takes undisturbed, until it has taken effect. */
function killAlongTheWay(durations: ReadonlyMap<string, number>): Carrier {
  return async (name, attempt) => {
    let kills = 0;
    for (const part of someOf([0, 0.5, 0.7, 0.85, 0.95], { quick: 2, full: 5 })) {
      kills++;
      if (await attempt({ killAfter: part * (durations.get(name) ?? 0) })) return kills;
    }
    await leaveAlone(name, attempt);
    return kills;
  };
}

async function walk(carry: Carrier) {
  const project = makeDemoProject();
  try {
    await setUpProject(calledHere(project));
    const durations = new Map<string, number>();
    const call = async (name: string, words: readonly string[], calling: Calling) => {
      const begun = performance.now();
      await project.phasegate(words, calling);
      durations.set(name, performance.now() - begun);
    };
    let kills = await carry('start', async (killing) => {
      await call('start', ['start', 'tdd'], killing);
      return (await runsOf(project)).length === 1;
    });
    const [run = ''] = await runsOf(project);
    let now = await status(project, run);
    for (const step of HONEST_WALK) {
      const calling = await step.calling(calledHere(project), run);
      if (step.leadsTo === null) {
        await here(project, step.call(run), calling);
        continue;
      }
      kills += await carry(step.name, async (killing) => {
        await call(step.name, step.call(run), { ...calling, ...killing });
        const before = now;
        now = await status(project, run);
        return tookEffect(step, before, now);
      });
    }
    const { run: _run, started_at: _started, updated_at: _updated, ...final } = now;
    const { json } = await here(project, ['audit', 'verify']);
    const audit = { ok: json.ok, runs: json.runs, findings: json.findings };
    return { final, events: await eventsOf(project, run), audit, durations, kills };
  } finally {
    project.remove();
  }
}

/** A transition happened whole or not at all: the run is where it was, or where the step leads. */
function tookEffect({ name, leadsTo }: Step, before: Status, after: Status): boolean {
  const [was, is] = [before, after].map((run) => `${run.status} ${run.phase}`);
  const wanted = `${leadsTo?.[0]} ${leadsTo?.[1]}`;
  if (is !== was && is !== wanted) throw new Error(`${name}: the run is ${is}, neither ${was} nor ${wanted}`);
  return is === wanted;
}

interface Status {
  readonly status: string;
  readonly phase: string | null;
  readonly [name: string]: unknown;
}

async function status(project: DemoProject, run: string): Promise<Status> {
  return (await here(project, ['status', run])).json as Status;
}

async function runsOf(project: DemoProject): Promise<readonly string[]> {
  const { json } = await here(project, ['runs']);
  return (json.runs as readonly { readonly run: string }[]).map(({ run }) => run);
}

async function eventsOf(project: DemoProject, run: string): Promise<readonly string[]> {
  const { json } = await here(project, ['audit', 'export', '--run', run]);
  const records = json.records as readonly {
    readonly event: string;
    readonly data: { readonly phase?: string };
  }[];
  return records.map(({ event, data }) => `${event} ${data.phase ?? ''}`.trim());
}
