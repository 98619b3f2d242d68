import { seesRed } from './pieces.ts';
import type { ProjectTests } from './template.ts';

/** What the README of a template tells. */
interface Told {
  readonly title: string;
  readonly template: string;
  /** The file of the workflow, from where the README is. */
  readonly file: string;
  readonly tests: ProjectTests;
  /** Whether tests must be seen to fail. */
  readonly red: boolean;
  /** Each phase: what the agent does, and what the engine or a human sees for themselves. */
  readonly phases: readonly (readonly [phase: string, agent: string, seen: string])[];
  readonly claims: readonly string[];
  /** What else there is to say. */
  readonly more?: string;
}

/** The README beside a template's workflow: what is seen, where, what is claimed, and what cannot be told. */
export function readme(told: Told): string {
  const { title, template, file, tests, phases, claims } = told;
  return `# ${title}

Written by \`phasegate init --template ${template}\`; the workflow is [\`${file}\`](${file}), and it is yours to change.
After a change, \`phasegate validate\`, \`phasegate check ${template}\` and \`phasegate test ${template}\` say whether it still works, and
\`phasegate trust ${template}\` accepts it.

| phase | the agent | the engine or a human |
|---|---|---|
${phases.map(([phase, agent, seen]) => `| ${phase} | ${agent} | ${seen} |`).join('\n')}

The engine runs the project's own tests: \`${tests.command}\`. It runs them itself, with an environment of its own, and counts what
it saw, not what the agent says of it${tests.report === null ? '' : ': what the report of the runner says, test by test'}.

## Where the tests are run

In a sandbox, on a copy of the tree as it was measured, with dependencies that a human had frozen (\`phasegate deps freeze\`): then
what was seen is \`verified\`. Where there is no bubblewrap, or nothing is frozen, they are run in the workspace, in which an agent can
change the runner: then it is \`observed\`, and the answer, \`phasegate status\` and the gate say so. Write \`needs: verified\` in the
workflow to refuse the second. In the copy there are no ignored files, no \`.git\` and no network.
${unverifiedHere(tests)}
## What is only claimed

${claims.map((claim) => `- ${claim}.`).join('\n')}

## What ${tests.report === null ? 'an exit code' : 'a report'} cannot tell

${limits(told).join('\n')}
${told.more === undefined ? '' : `\n${told.more.trim()}\n`}`;
}

/** What `init` found in the way, so that nobody reads a promise of what does not hold. */
function unverifiedHere({ unverified }: ProjectTests): string {
  if (unverified === undefined) return '';
  return `
**Here they are run in the workspace**, as \`phasegate init\` found: ${unverified.missing}. So what was seen there is
\`observed\`. To have it \`verified\`: ${unverified.next}.
`;
}

function limits({ tests, red }: Told): readonly string[] {
  const codes = tests.red.join(' or ');
  const isSeen = seesRed(tests);
  return [
    ...(red && !isSeen
      ? [
          `- Why tests fail. The engine sees that \`${tests.command}\` ended with ${codes}. A build error, a typing mistake or a`,
          '  missing import in a test looks the same as behaviour that is missing: **a build error looks like red**. So does a',
          '  test that failed before this run began.',
          '- Which tests fail. One that fails is enough, whatever it is about.',
        ]
      : []),
    ...(red && isSeen
      ? [
          '- Why a test fails. It fails at an assertion, or throws; whether for the right reason, a human reads.',
        ]
      : []),
    ...(tests.report === null
      ? [
          '- Whether there are tests. A command that runs no test and ends with 0 looks like green; some runners do that.',
          '- Whether a test was skipped, emptied or loosened. Tests are outside the write scope where code is written, which holds',
          '  for the tools that Phasegate serves, and not for an agent with a shell of its own.',
        ]
      : [
          '- Whether tests that were skipped before this run should be: skipped tests are let pass (`allow_skipped`).',
        ]),
    '- Whether the tests are any good.',
  ];
}
