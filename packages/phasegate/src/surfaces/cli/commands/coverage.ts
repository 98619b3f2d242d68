import type { CoverageSource } from '@phasegate/proofs';
import type { CliCommand } from '../command.ts';
import { coverageJson, coverageWords, isEnough, leastOf, numbered } from '../coverageReport.ts';
import { type Gathered, gatherCoverage } from '../gatherCoverage.ts';
import { letCodeIn } from '../letCodeIn.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';

/** `phasegate coverage`: what of a workflow was ever seen. */
export const coverage: CliCommand = {
  usage: ['coverage WORKFLOW [--tests] [--runs] [--all-versions] [--min PERCENT] [--as NAME]'],
  details:
    'Plays the contract tests beside the workflow and reads its recorded runs, and counts what they show: phases, ways,\n' +
    'gates, options, both sides of every check, and deny rules. Then lists what was never seen, with what would show it.\n' +
    'The exit code is 1 where a test failed or less than `--min` was seen.',
  examples: [
    'phasegate coverage tdd',
    'phasegate coverage tdd --tests --min 80',
    'phasegate coverage tdd --runs --json',
  ],
  options: {
    tests: { type: 'flag', summary: 'only what tests show' },
    runs: { type: 'flag', summary: 'only what recorded runs show' },
    'all-versions': { type: 'flag', summary: 'count runs of other versions of the workflow too' },
    min: { type: 'text', value: 'PERCENT', summary: 'exit 1 where less than this was seen' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['WORKFLOW'],
  server: 'ignored',
  async run(invocation) {
    const { args, out, project } = invocation;
    const least = leastOf(args.text('min'));
    const sources = sourcesOf(args.flag('tests'), args.flag('runs'));
    await letCodeIn(invocation);
    const { catalog } = await project();
    const found = await catalog.load(args.positionals[0] as string);
    const allVersions = args.flag('all-versions');
    const gathered = await gatherCoverage(invocation, { found, sources, allVersions });
    const { tests, interrupted } = gathered;
    const report = { coverage: gathered.coverage, sources, least };
    const failed = tests.filter(({ status }) => status === 'failed');
    await out.result(
      {
        ...coverageJson(report),
        tests: {
          passed: tests.length - failed.length,
          failed: failed.map(({ name, message }) => ({ name, message })),
        },
        ...(interrupted ? { interrupted } : {}),
      },
      () => coverageWords(report, out.paint, lookedAt(gathered, sources)),
    );
    return failed.length === 0 && !interrupted && isEnough(report) ? 0 : 1;
  },
};

function sourcesOf(tests: boolean, runs: boolean): readonly CoverageSource[] {
  if (tests === runs) return ['tests', 'runs'];
  return tests ? ['tests'] : ['runs'];
}

function lookedAt(
  { coverage, tests, interrupted }: Gathered,
  sources: readonly CoverageSource[],
): readonly string[] {
  const failed = tests.filter(({ status }) => status === 'failed');
  const lines = failed.map(({ name, message }) => `failed  ${name}\n  ${message.replaceAll('\n', '\n  ')}`);
  if (sources.includes('tests')) {
    const none =
      tests.length > 0 || interrupted ? '' : '; there is no file of contract tests beside the workflow';
    lines.push(`${numbered(tests.length, 'contract test')} played, ${failed.length} failed${none}`);
    if (interrupted) lines.push('interrupted: the other contract tests were not played');
  }
  if (sources.includes('runs')) lines.push(`${numbered(coverage.counted.runs, 'recorded run')} read`);
  return lines;
}
