import type { CliCommand } from '../command.ts';
import { examine, type Finding } from '../examine.ts';
import type { Paint } from '../paint.ts';
import { table } from '../text/table.ts';

/** `phasegate doctor`: what is set up, what is missing, and the next step. */
export const doctor: CliCommand = {
  usage: ['doctor'],
  details: 'Exits with 1 when something is broken; what is merely missing is not a fault.',
  examples: ['phasegate doctor', 'phasegate doctor --json'],
  options: {},
  anywhere: true,
  positionals: [],
  server: 'ignored',
  async run(invocation) {
    const { out } = invocation;
    const findings = await examine(invocation);
    const broken = findings.filter(({ status }) => status === 'broken');
    // Command line and MCP alone attach an agent in this ring; stronger ones have to be proven first.
    const ring = 'served';
    await out.result({ ok: broken.length === 0, ring, checks: findings }, () => {
      const steps = findings.flatMap(({ next_step }) => (next_step === undefined ? [] : [next_step]));
      return [
        table(findings.map(({ name, status, message }) => [paintFinding(status, out.paint), name, message])),
        ...(steps.length === 0 ? [] : ['', 'next:', ...steps.map((step) => `  ${out.paint.cyan(step)}`)]),
      ].join('\n');
    });
    return broken.length === 0 ? 0 : 1;
  },
};

function paintFinding(status: Finding['status'], paint: Paint): string {
  const word = status.padEnd('missing'.length);
  if (status === 'ok') return paint.green(word);
  return status === 'missing' ? paint.yellow(word) : paint.red(word);
}
