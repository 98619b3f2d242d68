import { type CoverageTally, startCoverage } from '@phasegate/proofs';
import type { Catalog, TestCategory, TestResult } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { coverageJson, coverageWords, isEnough, leastOf } from '../coverageReport.ts';
import { countingTests } from '../gatherCoverage.ts';
import { junit } from '../junit.ts';
import { letCodeIn } from '../letCodeIn.ts';
import { fileToWrite } from '../newFile.ts';
import { working } from '../showWork.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { writeText } from '../writeText.ts';

const CATEGORIES: readonly TestCategory[] = ['import', 'structure', 'domains', 'steps', 'contract'];

/** `phasegate test`: every case of every step, and the contract tests beside the workflow. */
export const test: CliCommand = {
  usage: [
    'test WORKFLOW [-k TEXT] [--category import|structure|domains|steps|contract] [--junit FILE] [--coverage [--min PERCENT]] [--as NAME]',
  ],
  details:
    'Invokes every step with every combination of the params it reads, on the real runtime with a store in memory, and\n' +
    'plays the contract tests of `WORKFLOW.contract.yaml` beside the workflow. Commands work on a copy of the project.\n' +
    'With `--coverage` it then says what of the workflow its contract tests have shown, as `phasegate coverage` does.\n' +
    'The exit code is 1 where a test failed, less than `--min` was seen or it was interrupted, and 2 where a definition\n' +
    'or a file of tests is wrong.',
  examples: [
    'phasegate test tdd',
    'phasegate test tdd -k review=quick',
    'phasegate test tdd --junit report.xml',
    'phasegate test tdd --coverage --min 100',
  ],
  options: {
    filter: { type: 'text', short: 'k', value: 'TEXT', summary: 'only tests whose name has TEXT in it' },
    category: { type: 'text', value: 'NAME', summary: `only tests of one kind: ${CATEGORIES.join(', ')}` },
    junit: { type: 'text', value: 'FILE', summary: 'write the results as JUnit XML' },
    coverage: { type: 'flag', summary: 'say what the contract tests have shown, and what they never did' },
    min: {
      type: 'text',
      value: 'PERCENT',
      summary: 'with `--coverage`: exit 1 where less than this was seen',
    },
    ...HUMAN_OPTIONS,
  },
  positionals: ['WORKFLOW'],
  server: 'ignored',
  async run(invocation) {
    const { args, out, env, machine, project } = invocation;
    if (machine === null) throw usageError('nothing can be tested from here');
    const workflow = args.positionals[0] ?? '';
    const wanted = args.text('category');
    const category = CATEGORIES.find((one) => one === wanted) ?? null;
    if (wanted !== undefined && category === null) {
      throw usageError(`there is no category \`${wanted}\``, `categories: ${CATEGORIES.join(', ')}`);
    }
    const least = leastWanted(args, category);
    const file = args.text('junit');
    const place = file === undefined ? null : await fileToWrite('`--junit`', file);
    await letCodeIn(invocation);
    const tally = args.flag('coverage') ? await tallyOf(invocation, workflow) : null;
    const signal = machine.stopping();
    const here = await project();
    let ran = 0;
    const results = await working(out, 'testing', (tell) =>
      machine.testWorkflow({
        project: here,
        workflow,
        category,
        filter: args.text('filter') ?? null,
        environment: env,
        signal,
        report: () => tell(`${++ran} cases`),
        ...(tally === null ? {} : countingTests(tally)),
      }),
    );
    const interrupted = signal.aborted;
    // Nothing tested is not the same as nothing wrong.
    if (results.length === 0 && !interrupted)
      throw usageError('no test was run', 'try another `-k` or `--category`');
    // Half a report would be taken for a whole one.
    if (place !== null && !interrupted) await writeText(place, junit(workflow, results));
    const report = tally === null ? null : { coverage: tally.result(), sources: ['tests'] as const, least };
    const count = (status: TestResult['status']) =>
      results.filter((result) => result.status === status).length;
    const summary = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
    const value = {
      workflow,
      ...summary,
      ...(interrupted ? { interrupted } : {}),
      tests: results,
      ...(report === null ? {} : { coverage: coverageJson(report) }),
    };
    const all = category === null && args.text('filter') === undefined;
    const hasContract = results.some((result) => result.category === 'contract');
    const hint = all && !hasContract && !interrupted ? [await noContract(here.catalog, workflow)] : [];
    await out.result(value, () => {
      const { dim, green, red } = out.paint;
      const told = (status: TestResult['status'], word: string) =>
        results
          .filter((result) => result.status === status)
          .map(({ name, message }) => `${word}  ${name}\n  ${message.replaceAll('\n', '\n  ')}`);
      const skipped = summary.skipped === 0 ? '' : `, ${summary.skipped} skipped`;
      const last = `${summary.passed} passed, ${summary.failed} failed${skipped}`;
      return [
        ...told('skipped', 'skipped'),
        ...told('failed', red('failed')),
        ...(results.length === 0 ? [] : [dim(kindsIn(results))]),
        summary.failed === 0 ? green(last) : red(last),
        ...(interrupted ? [red(cutShort(file))] : hint.map(dim)),
        ...(report === null ? [] : ['', coverageWords(report, out.paint, [])]),
      ].join('\n');
    });
    const enough = report === null || isEnough(report);
    return summary.failed === 0 && !interrupted && enough ? 0 : 1;
  },
};

/** Which file would hold contract tests; a workflow may have been named by its path. */
async function noContract(catalog: Catalog, name: string): Promise<string> {
  const { workflow } = await catalog.load(name);
  return `there are no contract tests: \`${workflow.id}.contract.yaml\` beside the workflow says what agents and humans may do`;
}

function cutShort(file: string | undefined): string {
  const unwritten = file === undefined ? '' : `, and \`${file}\` was not written`;
  return `interrupted: the other tests were not run${unwritten}`;
}

/** What is to be seen at least; asking for it where nothing is counted is a slip. */
function leastWanted(args: Invocation['args'], category: TestCategory | null): number | null {
  const least = leastOf(args.text('min'));
  if (least !== null && !args.flag('coverage')) throw usageError('`--min` needs `--coverage`');
  if (args.flag('coverage') && category !== null && category !== 'contract')
    throw usageError(
      `\`--coverage\` counts what contract tests show, and \`--category ${category}\` leaves them out`,
    );
  return least;
}

async function tallyOf({ project }: Invocation, name: string): Promise<CoverageTally> {
  const { workflow, hash } = await (await project()).catalog.load(name);
  return startCoverage({ workflow, hash });
}

/** How many of each kind, so that nothing is taken for tested that was not. */
function kindsIn(results: readonly TestResult[]): string {
  return CATEGORIES.flatMap((kind) => {
    const many = results.filter(({ category }) => category === kind).length;
    return many === 0 ? [] : [`${kind} ${many}`];
  }).join(', ');
}
