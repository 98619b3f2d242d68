import { createReadStream } from 'node:fs';
import { PhasegateError, type Workflow } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import {
  type PhaseRates,
  RateCounter,
  type Rates,
  type RecordedRates,
  rateProblems,
  simulate as simulateRuns,
} from '@phasegate/proofs';
import type { CliCommand, Invocation } from '../command.ts';
import { letCodeIn } from '../letCodeIn.ts';
import { fileToWrite } from '../newFile.ts';
import { panelsOf } from '../plot/panels.ts';
import { simulationSummary, simulationText, simulationTitle } from '../plot/simulationText.ts';
import { readLimited } from '../readLimited.ts';
import { working } from '../showWork.ts';
import { stateHere } from '../stateHere.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { writeText } from '../writeText.ts';

const MAX_RUNS = 1_000_000;
const MAX_AGENTS = 100_000;
/** The newest recorded runs say more about the next ones than the first did. */
const MAX_RECORDED = 1000;
const MAX_RATES_BYTES = 1_048_576;
const DEFAULT_SEED = '1';

/** `phasegate simulate`: what many runs of a workflow would come to. */
export const simulate: CliCommand = {
  usage: [
    'simulate WORKFLOW [--agents N] [--runs N] [--seed S] [--rates FILE] [--pass PHASE=RATE] [--plot FILE] [--as NAME]',
  ],
  details:
    'Pass rates, times and choices are taken from recorded runs, or from what is given here; what is neither is assumed,\n' +
    'and marked so. The same seed gives the same result.',
  examples: [
    'phasegate simulate tdd',
    'phasegate simulate tdd --agents 4 --pass IMPL=0.6 --pass TDD=0.8',
    'phasegate simulate tdd --rates rates.yaml --plot tdd.svg',
    'phasegate simulate tdd --json',
  ],
  options: {
    agents: { type: 'text', value: 'N', summary: 'agents that work side by side (1)' },
    runs: { type: 'text', value: 'N', summary: 'runs to simulate (1000)' },
    seed: { type: 'text', value: 'S', summary: `where the random numbers start (${DEFAULT_SEED})` },
    rates: { type: 'text', value: 'FILE', summary: 'rates by phase, as YAML or JSON' },
    pass: { type: 'texts', value: 'PHASE=RATE', summary: 'how likely an attempt at a phase is to pass' },
    plot: { type: 'text', value: 'FILE', summary: 'write the pictures as SVG too' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['WORKFLOW'],
  server: 'ignored',
  async run(invocation) {
    const { args, out, project } = invocation;
    await letCodeIn(invocation);
    const { catalog } = await project();
    const { workflow, hash } = await catalog.load(args.positionals[0] as string);
    const wanted = await wantedOf(invocation, workflow);
    const plot = args.text('plot');
    const file = plot === undefined ? undefined : await fileToWrite('`--plot`', plot);
    const { recorded, notes } = await recordedRates(invocation, workflow, hash);
    const made = await working(out, 'simulating', (report) =>
      simulateRuns(workflow, {
        ...wanted,
        ...(recorded === null ? {} : { recorded }),
        progress: (ended) => report(`${ended} of ${wanted.runs} runs`),
      }),
    );
    const simulation = { ...made, notes: [...notes, ...made.notes] };
    if (file !== undefined) {
      const { svgPlot } = await import('../plot/svgPlot.ts');
      const title = simulationTitle(simulation);
      const summary = simulationSummary(simulation);
      await writeText(file, svgPlot({ title, summary, panels: panelsOf(simulation) }));
    }
    await out.result({ ...simulation, ...(plot === undefined ? {} : { plot }) }, () =>
      simulationText(simulation, out.paint),
    );
    if (plot !== undefined && !out.json) await out.log(`wrote ${plot}`);
    return 0;
  },
};

interface Wanted {
  readonly agents: number;
  readonly runs: number;
  readonly seed: string;
  readonly rates: Rates;
}

/** What the words and the file of rates ask for; everything wrong with either is said at once. */
async function wantedOf({ args, project }: Invocation, workflow: Workflow): Promise<Wanted> {
  const problems: string[] = [];
  const count = (name: 'agents' | 'runs', most: number, otherwise: number) => {
    const given = args.text(name);
    const value = given === undefined ? otherwise : /^\d+$/.test(given) ? Number(given) : Number.NaN;
    if (!(value >= 1 && value <= most))
      problems.push(`\`--${name}\` is a whole number from 1 to ${most}, not \`${given}\``);
    return value;
  };
  const agents = count('agents', MAX_AGENTS, 1);
  const runs = count('runs', MAX_RUNS, 1000);
  const seed = args.text('seed') ?? DEFAULT_SEED;
  const pass = passOf(args.texts('pass'), problems);
  problems.push(...rateProblems(workflow, pass).map(({ message }) => `\`--pass\`: ${message}`));
  const file = args.text('rates');
  const rates = file === undefined ? {} : await ratesIn(file, { workflow, project, problems });
  if (problems.length > 0) throw usageError(problems.join('; '), 'see `phasegate simulate --help`');
  const both = [...new Set([...Object.keys(rates), ...Object.keys(pass)])];
  return {
    agents,
    runs,
    seed,
    rates: Object.fromEntries(both.map((id) => [id, { ...rates[id], ...pass[id] }])),
  };
}

function passOf(words: readonly string[], problems: string[]): Rates {
  const rates = new Map<string, PhaseRates>();
  for (const word of words) {
    const at = word.lastIndexOf('=');
    const [phase, text] = [word.slice(0, Math.max(at, 0)), word.slice(at + 1).trim()];
    const pass = text === '' ? Number.NaN : Number(text);
    if (at < 1 || Number.isNaN(pass)) problems.push(`\`--pass ${word}\` is not of the form \`PHASE=RATE\``);
    else if ((rates.get(phase)?.pass ?? pass) !== pass) problems.push(`\`--pass ${phase}\` is given twice`);
    else rates.set(phase, { pass });
  }
  return Object.fromEntries(rates);
}

async function ratesIn(
  file: string,
  {
    workflow,
    project,
    problems,
  }: Pick<Invocation, 'project'> & {
    readonly workflow: Workflow;
    readonly problems: readonly string[];
  },
): Promise<Rates> {
  try {
    return await (await project()).readRates(file, await textOf(file), workflow);
  } catch (cause) {
    if (!(cause instanceof PhasegateError) || problems.length === 0) throw cause;
    const message = [...problems, cause.message].join('; ');
    throw new PhasegateError('usage', message, { cause, problems: cause.problems });
  }
}

async function textOf(file: string): Promise<string> {
  const unreadable = (why: string, cause?: unknown) =>
    new PhasegateError('file_unreadable', `\`${file}\` ${why}`, {
      cause,
      hint: 'name a file with rates by phase, in YAML or JSON, as `--rates FILE`; `phasegate simulate --help` says more',
    });
  const bytes = await readLimited(createReadStream(file), MAX_RATES_BYTES).catch((cause: unknown) => {
    throw unreadable(`cannot be read: ${reasonOf(cause)}`, cause);
  });
  if (bytes === undefined) throw unreadable(`is over the limit of ${MAX_RATES_BYTES} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadable('is not UTF-8', cause);
  }
}

/** What recorded runs say. A project without any stays as it is: looking makes nothing. */
async function recordedRates(
  invocation: Invocation,
  workflow: Workflow,
  hash: string,
): Promise<{ readonly recorded: RecordedRates | null; readonly notes: readonly string[] }> {
  const opened = await stateHere(invocation);
  if (opened === null) return { recorded: null, notes: [] };
  const counter = new RateCounter();
  let others = 0;
  for await (const walk of opened.records.runs({ workflow: workflow.id, limit: MAX_RECORDED })) {
    counter.add(walk);
    // A run that made phases from its source has a hash of its own, whatever version it is of.
    if (workflow.templates === null && walk.run.workflowHash !== hash) others++;
  }
  const recorded = counter.rates();
  const { runs } = recorded;
  if (runs === 0) return { recorded: null, notes: [] };
  return {
    recorded,
    notes: [
      ...(others === 0 ? [] : [`${others} of ${runs} recorded runs are of another version of the workflow`]),
      ...(runs < MAX_RECORDED ? [] : [`only the newest ${MAX_RECORDED} recorded runs are looked at`]),
    ],
  };
}
