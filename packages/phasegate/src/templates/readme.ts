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

/** The README beside a template's workflow: what is seen, what is claimed, and what an exit code cannot tell. */
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
it saw, not what the agent says of it.

## What is only claimed

${claims.map((claim) => `- ${claim}.`).join('\n')}

## What an exit code cannot tell

${limits(told).join('\n')}
${told.more === undefined ? '' : `\n${told.more.trim()}\n`}`;
}

function limits({ tests, red }: Told): readonly string[] {
  const codes = tests.red.join(' or ');
  return [
    ...(red
      ? [
          `- Why tests fail. The engine sees that \`${tests.command}\` ended with ${codes}. A build error, a typing mistake or a`,
          '  missing import in a test looks the same as behaviour that is missing: **a build error looks like red**. So does a',
          '  test that failed before this run began.',
          '- Which tests fail. One that fails is enough, whatever it is about.',
        ]
      : []),
    '- Whether there are tests. A command that runs no test and ends with 0 looks like green; some runners do that.',
    '- Whether a test was skipped, emptied or loosened. Tests are outside the write scope where code is written, which holds',
    '  for the tools that Phasegate serves, and not for an agent with a shell of its own.',
    '- Whether the tests are any good.',
  ];
}
