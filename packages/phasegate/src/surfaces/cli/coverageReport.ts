import type { JsonObject } from '@phasegate/core';
import {
  type CoverableKind,
  type Coverage,
  type CoverageCount,
  type CoverageSource,
  type Covered,
  coverageByKind,
  coverageCount,
} from '@phasegate/proofs';
import { percent } from './graph/label.ts';
import type { Paint } from './paint.ts';
import { table } from './text/table.ts';
import { usageError } from './usage.ts';

/** What was seen, where it was looked for, and how much of it is demanded. */
export interface CoverageReport {
  readonly coverage: Coverage;
  readonly sources: readonly CoverageSource[];
  /** In percent; null where nothing is. */
  readonly least: number | null;
}

/** Reads `--min`. */
export function leastOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const least = Number(given);
  if (/^\d+(?:\.\d+)?$/.test(given) && least <= 100) return least;
  throw usageError(`\`--min\` is a percentage from 0 to 100, not \`${given}\``);
}

/** Whether as much was seen as is demanded. */
export function isEnough({ coverage, least }: CoverageReport): boolean {
  const { seen, total } = coverageCount(coverage.elements);
  return least === null || seen * 100 >= least * total;
}

/** The report as JSON. */
export function coverageJson(report: CoverageReport): JsonObject {
  const { coverage, sources, least } = report;
  const { elements, ...facts } = coverage;
  const value = {
    ...facts,
    sources,
    total: coverageCount(elements),
    kinds: coverageByKind(coverage),
    ...(least === null ? {} : { min: least, enough: isEnough(report) }),
    elements: elements.map(({ id: _, verb: _verb, ...element }) => element),
  };
  return value as unknown as JsonObject;
}

/** The report in words: how much, by kind, and what was never seen; `between` stands before the last word. */
export function coverageWords(report: CoverageReport, paint: Paint, between: readonly string[]): string {
  const { coverage, sources, least } = report;
  const parts = [
    headline(coverage, sources),
    tableOf(coverage, sources),
    neverSeen(coverage, sources, paint),
    [...between, ...leftOut(coverage)].join('\n'),
    isEnough(report) ? '' : paint.red(`less than the ${least}% of \`--min\` was seen`),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** A number of things: `1 run`, `2 runs`. */
export function numbered(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
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

function leftOut({ otherVersions, unreadable, dynamic }: Coverage): readonly string[] {
  const lines: string[] = [];
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
  return lines;
}
