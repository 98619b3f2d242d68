import { decideStart, type Workflow } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { type CheckReport, checkWorkflow, type Finding } from '@phasegate/proofs';
import type { CatalogWorkflow, StartingWith } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { letCodeIn } from '../letCodeIn.ts';
import { paramsOf, START_OPTIONS } from '../params.ts';
import { working } from '../showWork.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate check`: walks every state of a workflow before anyone runs it. */
export const check: CliCommand = {
  usage: ['check WORKFLOW [--max-states N] [--target FILE] [--param k=v…] [--option k=v…] [--as NAME]'],
  details:
    'Finds what cannot end, cannot be satisfied or can be bypassed, each with the shortest way there. Exits 1 where something was found, or where the bound was reached and so nothing is proven.\n' +
    'With a target or params the workflow is loaded as `start` would, with the phases its source has then. Conditions on params are tried with every value whatever is given.',
  examples: [
    'phasegate check tdd',
    'phasegate check tdd --json',
    'phasegate check tdd --max-states 1000000',
    'phasegate check spec_execution_v1 --param spec_path=specs/payments-retry',
  ],
  options: {
    'max-states': { type: 'text', value: 'N', summary: 'states after which looking ends (200000)' },
    ...START_OPTIONS,
    ...HUMAN_OPTIONS,
  },
  positionals: ['WORKFLOW'],
  server: 'ignored',
  async run(invocation) {
    const { args, out, project } = invocation;
    const states = statesOf(args.text('max-states'));
    await letCodeIn(invocation);
    const { catalog, standards } = await project();
    const name = args.positionals[0] as string;
    const starting = await startingOf(invocation, name);
    const found = await catalog.load(name, starting);
    const { workflow, files } = found;
    if (starting !== undefined) requireStartable(workflow, starting);
    const code = workflow.module === null ? [] : Object.keys(files).filter((file) => CODE.test(file));
    const around = { code, standards: await standards.served() };
    const report = await working(out, 'walking every state', (tell) =>
      checkWorkflow(workflow, {
        ...(states === undefined ? {} : { bounds: { states } }),
        around,
        progress: (seen) => tell(`${seen} states`),
      }),
    );
    const findings = report.findings.map((finding) => placed(finding, found));
    await out.result({ ...report, findings }, () => {
      const lines = findings.map(findingText);
      return [...lines, summaryOf(report)].join('\n');
    });
    return report.clean ? 0 : 1;
  },
};

/** Of what a human accepts, what is run or read by what is run. */
const CODE = /\.(?:[mc]?[jt]s|json)$/u;

type Placed = Finding & {
  readonly file: string;
  /** Null where the finding is about the whole workflow, or no line says what it is about. */
  readonly line: number | null;
  readonly column: number | null;
};

function statesOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const states = Number(given);
  if (Number.isSafeInteger(states) && states > 0) return states;
  throw usageError(`\`--max-states\` is a whole number from 1, not \`${given}\``);
}

/** What the workflow is loaded for, where that was said. */
async function startingOf(invocation: Invocation, name: string): Promise<StartingWith | undefined> {
  const { args } = invocation;
  const target = args.text('target') ?? null;
  if (target === null && args.texts('param').length + args.texts('option').length === 0) return undefined;
  return { params: await paramsOf(invocation, name), target };
}

/** A run that would be refused for its params has no phases to walk. */
function requireStartable(workflow: Workflow, { params, target }: StartingWith): void {
  const { ring } = workflow.enforcement;
  const { verdict } = decideStart(
    { id: 'check', workflow, workflowHash: '', target, params, ring, trusted: true, queued: false },
    { principal: { kind: 'human', name: 'check' }, now: '2000-01-01T00:00:00.000Z', facts: {} },
  );
  const wrong = verdict.allowed ? [] : verdict.blockers.filter(({ code }) => code === 'param_invalid');
  if (wrong.length > 0) throw usageError(wrong.map(({ message }) => message).join('; '));
}

/** A finding with where what it is about is written; the file alone where it is about the whole. */
function placed(finding: Finding, { path, placeOf }: CatalogWorkflow): Placed {
  const phase = finding.phases.at(-1);
  const part = finding.about ?? (phase === undefined ? undefined : { kind: 'phase' as const, name: phase });
  const place = part === undefined ? null : placeOf(part);
  return { ...finding, ...(place ?? { file: path, line: null, column: null }) };
}

function findingText({ code, severity, message, trace, file, line, column }: Placed): string {
  const steps = trace.map((step, index) => `  ${index + 1}. ${step}`);
  const place = line === null ? oneLine(file) : `${oneLine(file)}:${line}:${column}`;
  return [`${place}: ${severity} ${code}: ${message}`, ...steps].join('\n');
}

function summaryOf({ workflow, clean, findings, states, transitions, bound }: CheckReport): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const notes = findings.length - errors;
  const found = clean ? 'nothing wrong' : `${errors} finding${errors === 1 ? '' : 's'}`;
  const noted = notes === 0 ? '' : `, ${notes} note${notes === 1 ? '' : 's'}`;
  const looked = `${counted(states, 'state')} and ${counted(transitions, 'transition')} explored`;
  const rest =
    bound === null ? 'all that can be reached' : `bound of ${counted(bound.limit, 'state')} reached`;
  return `${workflow}: ${found}${noted}; ${looked}, ${rest}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
