import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@phasegate/core';
import { implementation, PLAN, REPORT, REVIEW, TESTS } from '../../examples/tdd/evidence.ts';
import type { ClientKind } from '../../packages/phasegate/src/clients/clientKind.ts';
import type { Exchange, Script, Step, ToolCall, Turn } from '../../packages/phasegate/src/clients/script.ts';
import { phasegate, type TestProject, withShown } from '../e2e/cli.ts';
import { machineWith } from './realClient.ts';

/** The human of these tests. */
export const SECRET = { passphrase: 'open sesame' };

const EXAMPLE = new URL('../../examples/tdd/', import.meta.url);
const FILES = [
  'agent_workflow.yaml',
  'package.json',
  'schemas/plan.json',
  'schemas/review.json',
  'schemas/test_run.json',
  'src/slugify.js',
];

/** `examples/tdd` in a folder of its own, with a human who accepted it. */
export async function tddProject(words: readonly string[] = []): Promise<TestProject> {
  const files = FILES.map((path) => [path, readFileSync(fileURLToPath(new URL(path, EXAMPLE)), 'utf8')]);
  // Not every client makes folders for the files it writes.
  const project = machineWith({ ...Object.fromEntries(files), 'test/README.md': 'Tests.\n' });
  for (const call of [
    ['init', '--name', 'maria', '--yes', ...words],
    ['trust', 'tdd', '--yes'],
  ]) {
    const { code, stderr } = await phasegate(project, call, SECRET);
    if (code !== 0) throw new Error(`\`${call.join(' ')}\` failed: ${stderr}`);
  }
  return project;
}

/** What PLAN asks for. */
export const PLAN_EVIDENCE = { plan: PLAN as JsonObject };

/** A run of it, driven by the model of one client: what it knows of the run, and how it calls. */
export class TddAgent {
  id = '';
  private readonly kind: ClientKind;
  private readonly project: TestProject;

  constructor(kind: ClientKind, project: TestProject) {
    this.kind = kind;
    this.project = project;
  }

  own(tool: string, input: JsonObject = {}): Turn {
    const session = this.id === '' ? {} : { session_id: this.id };
    return this.say(this.kind.words.mcp('phasegate', tool, { ...session, ...input }));
  }

  say(...calls: readonly ToolCall[]): Turn {
    return { calls };
  }

  start: Step = () => this.own('start_workflow', { workflow_type: 'tdd', goal: 'write slugify' });

  /** What follows the start: the id is in its answer. */
  begun = (shown: Exchange): void => {
    this.id = /run-\w+/.exec(shown.results[0]?.text ?? '')?.[0] ?? '';
  };

  complete(phase: string, evidence: JsonObject): Turn {
    return this.own('complete_phase', { phase, evidence });
  }

  async approve(): Promise<void> {
    const words = await withShown(this.project, ['decide', this.id, '--option', 'Approve']);
    const { code, stderr } = await phasegate(this.project, words, SECRET);
    if (code !== 0) throw new Error(`not approved: ${stderr}`);
  }

  /** Everything the workflow asks for, in its order, by the client's own tools. */
  honest(): Script {
    const { words } = this.kind;
    const { root } = this.project;
    const file = (name: string) => readFileSync(fileURLToPath(new URL(`agent/${name}`, EXAMPLE)), 'utf8');
    const before = readFileSync(`${root}/src/slugify.js`, 'utf8');
    const counted = (passed: number) => ({
      command: 'npm test',
      total: 3,
      passed,
      failed: 3 - passed,
      skipped: 0,
    });
    const json = (value: object) => value as JsonObject;
    return {
      turns: [
        this.start,
        (shown) => {
          this.begun(shown);
          return this.say(words.read(`${root}/src/slugify.js`));
        },
        () => this.own('get_task', { phase: 'PLAN', task_number: 1 }),
        () => this.own('get_task', { phase: 'PLAN', task_number: 2 }),
        () => this.complete('PLAN', PLAN_EVIDENCE),
        async () => {
          await this.approve();
          return this.own('get_workflow_state');
        },
        () => this.say(words.write(`${root}/test/slugify.test.js`, file('slugify.test.js'))),
        () => this.say(words.shell('node --test')),
        () => this.complete('TDD', { tests: TESTS.map(json), test_run_result: counted(0) }),
        () => this.say(words.read(`${root}/src/slugify.js`)),
        () => this.say(words.edit(`${root}/src/slugify.js`, before, file('slugify.js'))),
        () => this.say(words.shell('node --test')),
        () => this.complete('IMPL', json(implementation(counted(3)))),
        () => this.own('get_task', { phase: 'REVIEW', task_number: 1 }),
        () => this.complete('REVIEW', { review: json(REVIEW) }),
        () => this.complete('COMPLETE', { report: json(REPORT) }),
        { text: 'slugify is written' },
      ],
    };
  }

  async status(): Promise<JsonObject> {
    return (await phasegate(this.project, ['status', this.id, '--json'])).json;
  }
}
