import { type CheckReport, checkWorkflow, type Finding } from '@phasegate/core';
import type { CliCommand } from '../command.ts';
import { usageError } from '../usage.ts';

/** `phasegate check`: walks every state of a workflow before anyone runs it. */
export const check: CliCommand = {
  usage: ['check WORKFLOW [--max-states N]'],
  details:
    'Finds what cannot end, cannot be satisfied or can be gone around, each with the shortest way there. Exits 1 where something was found, or where the bound was reached and so nothing is proven.',
  examples: ['phasegate check tdd', 'phasegate check tdd --json', 'phasegate check tdd --max-states 1000000'],
  options: {
    'max-states': { type: 'text', value: 'N', summary: 'states after which looking ends (200000)' },
  },
  positionals: ['WORKFLOW'],
  server: 'ignored',
  async run({ args, out, project }) {
    const states = statesOf(args.text('max-states'));
    const { catalog } = await project();
    const { workflow } = await catalog.load(args.positionals[0] as string);
    const report = checkWorkflow(workflow, states === undefined ? {} : { bounds: { states } });
    await out.result({ ...report }, () => {
      const lines = report.findings.map(findingText);
      return [...lines, summaryOf(report)].join('\n');
    });
    return report.clean ? 0 : 1;
  },
};

function statesOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const states = Number(given);
  if (Number.isSafeInteger(states) && states > 0) return states;
  throw usageError(`\`--max-states\` is a whole number from 1, not \`${given}\``);
}

function findingText({ code, severity, message, trace }: Finding): string {
  const steps = trace.map((step, index) => `  ${index + 1}. ${step}`);
  return [`${severity} ${code}: ${message}`, ...steps].join('\n');
}

function summaryOf({ workflow, clean, findings, states, transitions, bound }: CheckReport): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const found = clean ? 'nothing wrong' : `${errors} finding${errors === 1 ? '' : 's'}`;
  const looked = `${states} states and ${transitions} transitions explored`;
  const rest = bound === null ? 'all that can be reached' : `bound of ${bound.limit} states reached`;
  return `${workflow}: ${found}; ${looked}, ${rest}`;
}
