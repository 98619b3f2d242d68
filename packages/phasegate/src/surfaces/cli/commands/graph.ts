import { graphOf, type WorkflowGraph } from '@phasegate/core/model';
import { markCoverage } from '@phasegate/proofs';
import type { CatalogWorkflow, UnlockedHuman } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { letCodeIn } from '../letCodeIn.ts';
import { markRun } from '../markRun.ts';
import { wholeRun } from '../runOf.ts';
import { callerOf, HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { writeText } from '../writeText.ts';

const FORMATS = ['mermaid', 'dot', 'json', 'svg'] as const;

/** `phasegate graph`: a workflow as a picture. */
export const graph: CliCommand = {
  usage: [
    'graph WORKFLOW [--format mermaid|dot|json|svg] [--run RUN | --coverage] [--output FILE] [--as NAME]',
  ],
  details:
    'Needs no other program: the SVG is drawn here. With a run, the picture shows where it is. With `--coverage`, what\n' +
    'contract tests and recorded runs have shown of it and how often; what never was is grey with a broken line.',
  examples: [
    'phasegate graph tdd',
    'phasegate graph tdd --format svg --output tdd.svg',
    'phasegate graph tdd --run RUN --format json',
    'phasegate graph tdd --coverage --format svg --output coverage.svg',
  ],
  options: {
    format: { type: 'text', value: 'FORMAT', summary: 'mermaid (default), dot, json or svg' },
    run: { type: 'text', value: 'RUN', summary: 'mark where this run is' },
    coverage: { type: 'flag', summary: 'mark what tests and runs have shown, and what never was' },
    output: { type: 'text', value: 'FILE', summary: 'write to a file instead of stdout' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['WORKFLOW'],
  server: 'ignored',
  async run(invocation) {
    const { args, out, project } = invocation;
    const format = formatOf(args.text('format'), out.json);
    const { catalog } = await project();
    if (args.flag('coverage') && args.text('run') !== undefined) {
      throw usageError('`--run` and `--coverage` are two pictures', 'draw them one after the other');
    }
    // A run of a server is shown to the one who signs in there: the passphrase is for that, and is read only once.
    const atServer = invocation.server !== null && args.text('run') !== undefined;
    const human = atServer ? null : await letCodeIn(invocation);
    const found = await catalog.load(args.positionals[0] as string);
    const plain = graphOf(found.workflow);
    const drawn = args.flag('coverage')
      ? await withCoverage(invocation, plain, found)
      : await withRun(invocation, plain, human);
    const text = await draw(drawn, format);
    const file = args.text('output');
    if (file !== undefined) {
      await writeText(file, text);
      await out.result({ format, file }, () => `wrote ${file}`);
    } else if (out.json) {
      await out.result(format === 'json' ? drawn : { format, graph: text }, () => '');
    } else {
      await out.raw(text);
    }
    return 0;
  },
};

async function withRun(
  invocation: Invocation,
  drawn: WorkflowGraph,
  human: UnlockedHuman | null,
): Promise<WorkflowGraph> {
  const word = invocation.args.text('run');
  if (word === undefined) return drawn;
  const caller = human?.principal ?? (await callerOf(invocation));
  const runId = await wholeRun(invocation, caller, word);
  const view = await (await invocation.reach()).as(caller).view(runId);
  if (view.workflow !== drawn.workflow) {
    throw usageError(`run \`${runId}\` is a run of \`${view.workflow}\`, not of \`${drawn.workflow}\``);
  }
  return markRun(drawn, view);
}

async function withCoverage(
  invocation: Invocation,
  drawn: WorkflowGraph,
  found: CatalogWorkflow,
): Promise<WorkflowGraph> {
  const { gatherCoverage } = await import('../gatherCoverage.ts');
  const asked = { found, sources: ['tests', 'runs'], allVersions: false } as const;
  const { coverage, tests, interrupted } = await gatherCoverage(invocation, asked);
  if (interrupted) await invocation.out.log('interrupted: not every contract test was played');
  const failed = tests.filter(({ status }) => status === 'failed').length;
  if (failed > 0) await invocation.out.log(`${failed} of ${tests.length} contract tests failed`);
  const others = coverage.otherVersions.runs;
  if (others > 0) await invocation.out.log(`${others} runs of other versions of the workflow are left out`);
  return markCoverage(drawn, found.workflow, coverage);
}

type Format = (typeof FORMATS)[number];

function formatOf(word: string | undefined, json: boolean): Format {
  if (word === undefined) return json ? 'json' : 'mermaid';
  const format = FORMATS.find((known) => known === word);
  if (format === undefined)
    throw usageError(`there is no format \`${word}\``, `formats: ${FORMATS.join(', ')}`);
  return format;
}

async function draw(drawn: WorkflowGraph, format: Format): Promise<string> {
  switch (format) {
    case 'mermaid':
      return (await import('../graph/mermaid.ts')).toMermaid(drawn);
    case 'dot':
      return (await import('../graph/dot.ts')).toDot(drawn);
    case 'svg':
      return (await import('../graph/svg.ts')).toSvg(drawn);
    case 'json':
      return `${JSON.stringify(drawn, null, 2)}\n`;
  }
}
