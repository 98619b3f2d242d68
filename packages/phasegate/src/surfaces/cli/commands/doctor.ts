import { HOOK_CLIENTS } from '../../../runtime/ports.ts';
import type { CliCommand } from '../command.ts';
import { examine } from '../examine.ts';
import type { Finding } from '../finding.ts';
import type { Paint } from '../paint.ts';
import { table } from '../text/table.ts';
import { usageError } from '../usage.ts';

/** `phasegate doctor`: what is set up, what is missing, and the next step. */
export const doctor: CliCommand = {
  usage: ['doctor', 'doctor --prove [--client NAME]'],
  details:
    'Exits with 1 when something is broken, or missing that runs or decisions need. What is optional is listed as such.\n' +
    '--prove starts each client that is installed and attached here, for real, with a scripted model in place of its own,\n' +
    'in a world of its own with a copy of the settings, and has it try what is forbidden, by every kind of tool and with\n' +
    'the server, the search path and the settings tampered with. It takes a minute or two per client. What held is kept,\n' +
    'and decides the ring of the sessions of that client, until the client, its settings or the kernel changes.',
  examples: ['phasegate doctor', 'phasegate doctor --json', 'phasegate doctor --prove --client claude'],
  options: {
    prove: { type: 'flag', summary: 'start the clients and try what they are held by' },
    client: {
      type: 'text',
      value: 'NAME',
      summary: 'with --prove: only this client',
      choices: HOOK_CLIENTS,
    },
  },
  anywhere: true,
  positionals: [],
  server: 'ignored',
  async run(invocation) {
    const { out, args } = invocation;
    if (args.flag('prove')) return (await import('../proveHere.ts')).proveHere(invocation);
    if (args.text('client') !== undefined) throw usageError('`--client` goes with `--prove`');
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
