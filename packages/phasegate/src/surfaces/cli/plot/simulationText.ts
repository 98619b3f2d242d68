import type { RateInput, Simulation } from '@phasegate/proofs';
import type { Paint } from '../paint.ts';
import { facts, table } from '../text/table.ts';
import { panelsOf, SPENT } from './panels.ts';
import { shareText, short, timeText } from './quantities.ts';
import { textPlot } from './textPlot.ts';

/** A simulation for a terminal: what each phase comes to, what all do, and pictures of it. */
export function simulationText(simulation: Simulation, paint: Paint): string {
  const { notes, bound } = simulation;
  const given = bound === null ? [] : [givenUp(bound)];
  return [
    `${simulationTitle(simulation)}; ${sourceText(simulation)}`,
    phaseTable(simulation, paint),
    facts(totals(simulation)),
    textPlot(panelsOf(simulation), paint),
    `${paint.bold('What it rests on')}\n${inputTable(simulation, paint)}`,
    ...[...given, ...notes].map((note) => `${paint.yellow('note:')} ${note}`),
  ].join('\n\n');
}

/** That runs were still going on says nothing about where they would have ended. */
function givenUp({ runs, steps }: NonNullable<Simulation['bound']>): string {
  const many = runs === 1 ? '1 run was' : `${runs} runs were`;
  return `${many} given up after ${steps} steps (attempts and decisions) without an end, and ${runs === 1 ? 'counts' : 'count'} as stuck: the workflow may lead back again and again at these rates, or ask for more steps`;
}

/** What was simulated, in a line. */
export function simulationTitle({ workflow, runs, agents, seed }: Simulation): string {
  return `${workflow}: ${runs} runs simulated with ${agents} agent${agents === 1 ? '' : 's'}, seed ${seed}`;
}

/** What came of it, in a line. */
export function simulationSummary({ completed, stopped, stuck, minutes }: Simulation): string {
  const ends = `${shareText(completed)} completed, ${shareText(stopped)} stopped, ${shareText(stuck)} stuck`;
  return minutes === null ? ends : `${ends}; half end within ${timeText(minutes.p50)}`;
}

function sourceText({ recorded }: Simulation): string {
  if (recorded === 0) return 'no run is recorded';
  return `rates from ${recorded} recorded run${recorded === 1 ? '' : 's'}`;
}

function phaseTable({ phases }: Simulation, paint: Paint): string {
  const head = ['PHASE', 'VISITS', 'PASS', 'FROM', 'ATTEMPTS', 'TIME p50', 'p95', 'STUCK'];
  const rows = phases.map(({ phase, visits, pass, attempts, minutes, stuck }) => [
    String(phase),
    short(visits, 2),
    pass.rates.map(shareText).join(', then '),
    pass.n === null ? pass.source : `${pass.n} recorded`,
    attempts === null ? '-' : short(attempts, 2),
    minutes === null ? '-' : timeText(minutes.p50),
    minutes === null ? '-' : timeText(minutes.p95),
    stuck === 0 ? '0 %' : paint.red(shareText(stuck)),
  ]);
  return table([head.map((word) => paint.bold(word)), ...rows]);
}

function totals(simulation: Simulation): readonly (readonly [string, string])[] {
  const { completed, stopped, stuck, minutes, attempts, throughput, utilisation, agents, bottleneck } =
    simulation;
  const busy = `${agents === 1 ? 'the agent is' : 'agents are'} at work ${shareText(utilisation)} of the time`;
  return [
    ['completed', shareText(completed)],
    ['stopped', shareText(stopped)],
    ['stuck', shareText(stuck)],
    [
      'time',
      minutes === null
        ? 'no run came to an end'
        : `${timeText(minutes.mean)} on average, p50 ${timeText(minutes.p50)}, p95 ${timeText(minutes.p95)}`,
    ],
    ['attempts', `${short(attempts, 2)} in a run`],
    ['throughput', `${throughput === null ? '-' : short(throughput, 2)} completed runs an hour; ${busy}`],
    [
      'bottleneck',
      bottleneck === null
        ? 'none'
        : `${bottleneck.phase}, ${SPENT[bottleneck.kind]}: ${shareText(bottleneck.share)} of a run's time`,
    ],
  ];
}

const SOURCES = ['given', 'recorded', 'assumed'] as const;

/** Every number that the table does not show; what is the same in several phases is said once. */
function inputTable({ inputs, phases }: Simulation, paint: Paint): string {
  const rows = new Map<string, { readonly source: string; readonly words: string; readonly at: string[] }>();
  for (const source of SOURCES) {
    for (const input of inputs) {
      if (input.source !== source || (input.rate === 'pass' && input.source !== 'assumed')) continue;
      const words = inputText(input);
      const known = rows.get(`${source} ${words}`) ?? { source, words, at: [] };
      known.at.push(String(input.phase));
      rows.set(`${source} ${words}`, known);
    }
  }
  return table(
    [...rows.values()].map(({ source, words, at }) => [
      `  ${source === 'assumed' ? paint.yellow(source) : source}`,
      words,
      at.length === phases.length && at.length > 1 ? 'every phase' : listed(at),
    ]),
  );
}

function listed(names: readonly string[]): string {
  return names.length <= 6
    ? names.join(', ')
    : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`;
}

function inputText({ rate, value, n }: RateInput): string {
  const counted = n === null ? '' : ` (${n} recorded)`;
  const times = () => {
    const values = Array.isArray(value) ? (value as readonly number[]) : [];
    if (n !== null) return `about ${timeText(values[0] ?? 0)}${counted}`;
    return values.map(timeText).join(' or ');
  };
  const share = typeof value === 'number' ? shareText(value) : '';
  const shares = () =>
    Object.entries(value)
      .map(([name, part]) => `${name} ${shareText(Number(part))}`)
      .join(', ');
  switch (rate) {
    case 'pass':
      return 'every attempt passes';
    case 'minutes':
      return `an attempt takes ${times()}`;
    case 'blocked':
      return `the agent gives up in ${share} of its attempts${counted}`;
    case 'items':
      return `it has ${[value].flat().join(' or ')} items${counted}`;
    case 'outcomes':
      return `it ends with ${shares()}${counted}`;
    case 'condition':
      return `its condition is true in ${share}${counted}`;
    case 'options':
      return `at the gate: ${shares() || 'nobody decides'}${counted}`;
    case 'decide_minutes':
      return `a human decides after ${times()}`;
    case 'resume':
      return value === 0
        ? `nobody resumes an escalated run${counted}`
        : `of escalated runs ${share} are resumed${counted}`;
    case 'stop':
      return `of escalated runs ${share} are stopped${counted}`;
    case 'resume_minutes':
      return `a human acts on an escalated run after ${times()}`;
  }
}
