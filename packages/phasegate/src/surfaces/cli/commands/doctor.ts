import type { CliCommand } from '../command.ts';
import { examine, type Finding } from '../examine.ts';
import type { Paint } from '../paint.ts';
import { table } from '../text/table.ts';

/** `phasegate doctor`: what is set up, what is missing, and the next step. */
export const doctor: CliCommand = {
  usage: ['doctor'],
  details:
    'Exits with 1 when something is broken, or missing that runs or decisions need. What is optional is listed as such.',
  examples: ['phasegate doctor', 'phasegate doctor --json'],
  options: {},
  anywhere: true,
  positionals: [],
  server: 'ignored',
  async run(invocation) {
    const { out } = invocation;
    const findings = await examine(invocation);
    const ok = findings.every(({ status }) => status === 'ok' || status === 'optional');
    // Command line and MCP alone attach an agent in this ring; stronger ones have to be proven first.
    const ring = 'served';
    await out.result({ ok, ring, checks: findings }, () => {
      // One step may be the way to several things: accepting the servers accepts all of them.
      const steps = new Set(
        findings.flatMap(({ next_step }) => (next_step === undefined ? [] : [next_step])),
      );
      return [
        table(findings.map(({ name, status, message }) => [paintFinding(status, out.paint), name, message])),
        ...(steps.size === 0 ? [] : ['', 'next:', ...[...steps].map((step) => `  ${out.paint.cyan(step)}`)]),
      ].join('\n');
    });
    return ok ? 0 : 1;
  },
};

function paintFinding(status: Finding['status'], paint: Paint): string {
  const word = status.padEnd('optional'.length);
  if (status === 'ok') return paint.green(word);
  if (status === 'optional') return paint.dim(word);
  return status === 'missing' ? paint.yellow(word) : paint.red(word);
}
