import { plainWords, scopeOf } from './pieces.ts';
import { readme } from './readme.ts';
import { specTexts } from './specTexts.ts';
import type { ProjectTests, Template } from './template.ts';

const FOLDER = 'workflows/spec';

/** The phases of a `tasks.md`, each with tests the engine runs and a human who accepts it. */
export const specTemplate: Template = {
  name: 'spec',
  summary: 'the phases of a tasks.md one by one; the engine runs the tests, a human accepts each',
  workflow: 'spec',
  path: `${FOLDER}/metadata.json`,
  startWith: ' --param spec_path=specs/example',
  runsTests: true,
  definition: (tests) => [
    { path: `${FOLDER}/metadata.json`, text: `${JSON.stringify(metadata(tests), null, 2)}\n` },
    { path: `${FOLDER}/phases/0/phase.md`, text: specTexts.understand },
    { path: `${FOLDER}/phases/dynamic/phase-template.md`, text: specTexts.phase },
    { path: `${FOLDER}/phases/dynamic/task-template.md`, text: specTexts.task },
  ],
  beside: (tests) => [
    { path: 'specs/example/tasks.md', text: specTexts.example },
    { path: `${FOLDER}/spec.contract.yaml`, text: specTexts.contract },
    {
      path: `${FOLDER}/README.md`,
      text: readme({
        title: 'Carrying out a specification',
        template: 'spec',
        file: 'metadata.json',
        tests,
        red: false,
        phases: [
          ['0', 'reads the specification', 'nothing; **a human reads what the agent understood**'],
          [
            '1, 2, …',
            'carries out the tasks of that phase in `tasks.md`',
            'runs the tests and sees them pass; **a human accepts the phase**',
          ],
        ],
        claims: [
          '`tasks_completed`: that a task was carried out. The engine sees that each was handed out, and that the tests pass',
          '`validation_gate`: a sentence for each line of the gate in `tasks.md`. The human reads it',
        ],
        more: `## Starting it

\`phasegate start spec --param spec_path=specs/example\` takes its phases from \`specs/example/tasks.md\`, once: what is changed
there later changes nothing for that run. Put your own beside it; \`phasegate tasks specs/example\` shows what is understood.
The human's gates say \`required: false\`, as all phases submit evidence of the same names, and a later phase replaces what was
approved before; a run still waits at every one of them.

## Where a human approves the plan

\`tasks.md\` is the plan, and it is written before the run. In phase 0 a human reads what the agent understood of it, before any
work begins.`,
      }),
    },
  ],
};

function metadata({ command, report, layout }: ProjectTests): object {
  const words = plainWords(command);
  const asked =
    report === null
      ? {
          check: 'command',
          with: { ...(words === null ? { shell: command } : { argv: words }), timeout_seconds: 600 },
        }
      : {
          check: 'tests',
          with: {
            argv: report,
            expect: 'green',
            allow_skipped: true,
            timeout_seconds: 600,
            canary: { plant: layout.tests },
          },
        };
  return {
    workflow_type: 'spec',
    title: 'Carry out a specification',
    version: '1.0',
    description: 'The phases of a tasks.md one by one; the engine runs the tests, a human accepts each',
    dynamic_phases: true,
    dynamic_config: {
      source_type: 'spec_tasks_md',
      source_path_key: 'spec_path',
      templates: { phase: 'phases/dynamic/phase-template.md', task: 'phases/dynamic/task-template.md' },
      parser: 'spec_tasks_parser',
    },
    params: {
      spec_path: {
        type: 'string',
        description: 'folder of the specification, or its tasks.md, such as specs/example',
      },
    },
    phases: [
      {
        phase_number: 0,
        phase_name: 'Understand the specification',
        purpose: 'Know what is wanted before the first task is opened',
        allowed_tools: ['read_files', 'list_files', 'grep'],
        writes: [],
        gate: {
          human: {
            prompt: 'Has the agent understood what is wanted?',
            options: [{ label: 'Yes' }, { label: 'No', next: 0, requires_input: true }],
          },
        },
      },
      {
        phase_number: '1-N',
        phase_name: 'The phases of the specification',
        purpose: 'Carry out its tasks, one at a time',
        allowed_tools: ['read_files', 'list_files', 'grep', 'write_files', 'bash'],
        forbidden_tools: ['git'],
        tool_constraints: { bash: { allowed: [command] } },
        writes: scopeOf([...new Set([...layout.code, ...layout.tests])], layout),
        gates: [
          {
            blockers: [
              {
                name: 'tests_really_pass',
                ...asked,
                verify: true,
                needs: 'observed',
                message: 'The engine ran the tests and did not see them pass',
              },
            ],
          },
          {
            human: {
              prompt: 'Is this phase of the specification done?',
              required: false,
              options: [{ label: 'Accept' }, { label: 'Stop', next: null }],
            },
          },
        ],
      },
    ],
  };
}
