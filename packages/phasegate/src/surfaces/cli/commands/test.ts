import { writeFileSync } from 'node:fs';
import { PhasegateError } from '@phasegate/core';
import type { TestCategory, TestResult } from '../../../runtime/ports.ts';
import type { CliCommand } from '../command.ts';
import { junit } from '../junit.ts';
import { usageError } from '../usage.ts';

const CATEGORIES: readonly TestCategory[] = ['import', 'structure', 'domains', 'steps', 'contract'];

/** `phasegate test`: every case of every step, and the contract tests beside the workflow. */
export const test: CliCommand = {
  usage: ['test WORKFLOW [-k TEXT] [--category import|structure|steps|domains|contract] [--junit FILE]'],
  details:
    'Invokes every step with every combination of the params it reads, on the real runtime with a store in memory, and\n' +
    'plays the contract tests of `NAME.contract.yaml` beside the workflow. Commands work on a copy of the project.\n' +
    'The exit code is 1 where a test failed, and 2 where a definition or a file of tests is wrong.',
  examples: [
    'phasegate test tdd',
    'phasegate test tdd -k mode=quick',
    'phasegate test tdd --junit report.xml',
  ],
  options: {
    filter: { type: 'text', short: 'k', value: 'TEXT', summary: 'only tests whose name has TEXT in it' },
    category: { type: 'text', value: 'NAME', summary: `only tests of one kind: ${CATEGORIES.join(', ')}` },
    junit: { type: 'text', value: 'FILE', summary: 'write the results as JUnit XML' },
  },
  positionals: ['WORKFLOW'],
  server: 'ignored',
  async run({ args, out, env, machine, project }) {
    if (machine === null) throw usageError('nothing can be tested from here');
    const workflow = args.positionals[0] ?? '';
    const wanted = args.text('category');
    const category = CATEGORIES.find((one) => one === wanted) ?? null;
    if (wanted !== undefined && category === null) {
      throw usageError(`there is no category \`${wanted}\``, `categories: ${CATEGORIES.join(', ')}`);
    }
    const results = await machine.testWorkflow({
      project: await project(),
      workflow,
      category,
      filter: args.text('filter') ?? null,
      environment: env,
      signal: machine.stopping(),
      report: () => undefined,
    });
    // Nothing tested is not the same as nothing wrong.
    if (results.length === 0) throw usageError('no test was run', 'try another `-k` or `--category`');
    const file = args.text('junit');
    if (file !== undefined) write(file, junit(workflow, results));
    const count = (status: TestResult['status']) =>
      results.filter((result) => result.status === status).length;
    const summary = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
    await out.result({ workflow, ...summary, tests: results }, () => {
      const { dim, green, red } = out.paint;
      const told = (status: TestResult['status'], word: string) =>
        results
          .filter((result) => result.status === status)
          .map(({ name, message }) => `${word}  ${name}\n  ${message}`);
      const skipped = summary.skipped === 0 ? '' : `, ${summary.skipped} skipped`;
      const last = `${summary.passed} passed, ${summary.failed} failed${skipped}`;
      const all = category === null && args.text('filter') === undefined;
      return [
        ...told('skipped', 'skipped'),
        ...told('failed', red('failed')),
        dim(kindsIn(results)),
        summary.failed === 0 ? green(last) : red(last),
        ...(all && !results.some((result) => result.category === 'contract') ? [dim(NO_CONTRACT)] : []),
      ].join('\n');
    });
    return summary.failed === 0 ? 0 : 1;
  },
};

const NO_CONTRACT =
  'there are no contract tests: `NAME.contract.yaml` beside the workflow says what agents and humans may do';

/** How many of each kind, so that nothing is taken for tested that was not. */
function kindsIn(results: readonly TestResult[]): string {
  return CATEGORIES.flatMap((kind) => {
    const many = results.filter(({ category }) => category === kind).length;
    return many === 0 ? [] : [`${kind} ${many}`];
  }).join(', ');
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new PhasegateError('file_unreadable', `\`${file}\` cannot be written: ${reason}`, { cause });
  }
}
