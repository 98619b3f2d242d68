import {
  type CoverableKind,
  type Coverage,
  type CoverageCount,
  type CoverageSource,
  type Covered,
  coverageByKind,
  coverageCount,
} from '@phasegate/core';
import type { TestResult } from '../../../runtime/ports.ts';
import type { CliCommand } from '../command.ts';
import { gatherCoverage } from '../gatherCoverage.ts';
import { percent } from '../graph/label.ts';
import type { Paint } from '../paint.ts';
import { table } from '../text/table.ts';
import { usageError } from '../usage.ts';

/** `phasegate coverage`: what of a workflow was ever seen. */
export const coverage: CliCommand = {
  usage: ['coverage WORKFLOW [--tests] [--runs] [--all-versions] [--min PERCENT]'],
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
  },
  positionals: ['WORKFLOW'],
  server: 'ignored',
  async run(invocation) {
    const { args, out, project } = invocation;
    const least = leastOf(args.text('min'));
    const sources = sourcesOf(args.flag('tests'), args.flag('runs'));
    const { catalog } = await project();
    const found = await catalog.load(args.positionals[0] as string);
    const allVersions = args.flag('all-versions');
    const { coverage, tests } = await gatherCoverage(invocation, { found, sources, allVersions });
    const failed = tests.filter(({ status }) => status === 'failed');
    const total = coverageCount(coverage.elements);
    const enough = least === null || total.seen * 100 >= least * total.total;
    const { elements, ...facts } = coverage;
    await out.result(
      {
        ...facts,
        sources,
        tests: {
          passed: tests.length - failed.length,
          failed: failed.map(({ name, message }) => ({ name, message })),
        },
        total,
        kinds: coverageByKind(coverage),
        ...(least === null ? {} : { min: least, enough }),
        elements: elements.map(({ id: _, verb: _verb, ...element }) => element),
      },
      () => {
        const parts = [
          headline(coverage, sources),
          tableOf(coverage, sources),
          neverSeen(coverage, sources, out.paint),
          lookedAt(coverage, { sources, tests, failed }),
          enough ? '' : out.paint.red(`less than the ${least}% of \`--min\` was seen`),
        ];
        return parts.filter((part) => part !== '').join('\n\n');
      },
    );
    return failed.length === 0 && enough ? 0 : 1;
  },
};

function leastOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const least = Number(given);
  if (/^\d+(?:\.\d+)?$/.test(given) && least <= 100) return least;
  throw usageError(`\`--min\` is a percentage from 0 to 100, not \`${given}\``);
}

function sourcesOf(tests: boolean, runs: boolean): readonly CoverageSource[] {
  if (tests === runs) return ['tests', 'runs'];
  return tests ? ['tests'] : ['runs'];
}

function headline({ workflow, elements }: Coverage, sources: readonly CoverageSource[]): string {
  const count = coverageCount(elements);
  const by = sources.map((source) => `${percent(count[source], count.total)} by ${source}`);
  return `${workflow}: ${percent(count.seen, count.total)} seen (${count.seen} of ${count.total}), ${by.join(', ')}`;
}

const KINDS: Readonly<Record<CoverableKind, string>> = {
  phase_entered: 'phases entered',
  phase_completed: 'phases completed',
  transition: 'transitions',
  gate_opened: 'gates opened',
  gate_decided: 'gates decided',
  option: 'options chosen',
  precondition_held: 'preconditions held',
  precondition_refused: 'preconditions refused',
  postcondition_held: 'postconditions held',
  postcondition_refused: 'postconditions refused',
  blocker_held: 'blockers held',
  blocker_refused: 'blockers refused',
  deny_rule: 'deny rules',
};

function tableOf(coverage: Coverage, sources: readonly CoverageSource[]): string {
  const share = (seen: number, { total }: CoverageCount) => [`${seen}/${total}`, percent(seen, total)];
  const columns = sources.length === 1 ? [] : sources;
  const rows = coverageByKind(coverage).map((row) => [
    KINDS[row.kind],
    ...share(row.seen, row),
    ...columns.flatMap((source) => share(row[source], row)),
  ]);
  return table([['', 'seen', '', ...columns.flatMap((source) => [`by ${source}`, ''])], ...rows]);
}

function neverSeen({ elements }: Coverage, sources: readonly CoverageSource[], { dim }: Paint): string {
  const unseen = elements.filter((element) => sources.every((source) => element[source] === 0));
  if (unseen.length === 0) return '';
  const who = sources.map((source) => (source === 'tests' ? 'no test' : 'no run')).join(' and ');
  const line = ({ name, verb, hint }: Covered) => `  ${name}: ${who} ${verb}\n${dim(`    ${hint}`)}`;
  return [`never seen (${unseen.length}):`, ...unseen.map(line)].join('\n');
}

function lookedAt(
  { counted, otherVersions, unreadable, dynamic }: Coverage,
  {
    sources,
    tests,
    failed,
  }: {
    readonly sources: readonly CoverageSource[];
    readonly tests: readonly TestResult[];
    readonly failed: readonly TestResult[];
  },
): string {
  const lines = failed.map(({ name, message }) => `failed  ${name}\n  ${message}`);
  if (sources.includes('tests')) {
    const none = tests.length === 0 ? '; there is no file of contract tests beside the workflow' : '';
    lines.push(`${numbered(tests.length, 'contract test')} played, ${failed.length} failed${none}`);
  }
  if (sources.includes('runs')) lines.push(`${numbered(counted.runs, 'recorded run')} read`);
  const others = otherVersions.tests + otherVersions.runs;
  if (others > 0) {
    lines.push(
      `${numbered(others, 'run')} of another version left out; \`--all-versions\` counts what can be told of them`,
    );
  }
  const broken = unreadable.tests + unreadable.runs;
  if (broken > 0)
    lines.push(`${numbered(broken, 'run')} left out, as the records make no run: \`phasegate audit verify\``);
  if (dynamic) lines.push('phases are made when a run starts; those of every run above are counted');
  return lines.join('\n');
}

function numbered(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
