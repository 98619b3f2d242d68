import { HOOK_CLIENTS, isHookClient, type ProvenWall, type Proving } from '../../runtime/ports.ts';
import type { ExitCode, Invocation } from './command.ts';
import type { Paint } from './paint.ts';
import { table } from './text/table.ts';
import { usageError } from './usage.ts';

/** Proves the clients of this machine, keeps what held, and tells all of it. */
export async function proveHere(invocation: Invocation): Promise<ExitCode> {
  const { args, out, env, machine } = invocation;
  const client = args.text('client') ?? null;
  if (client !== null && !isHookClient(client)) {
    throw usageError(`\`${client}\` is not a client that is known: ${HOOK_CLIENTS.join(', ')}`);
  }
  if (machine?.prove === undefined) throw usageError('clients cannot be started from here');
  const { root, stateDir } = await invocation.project();
  // Opened first: a proof that could not be kept is not worth its minutes.
  const open = await invocation.open();
  const results = await machine.prove({ root, stateDir, env, client, told: (line) => void out.log(line) });
  for (const result of results) {
    if (result.status === 'proven') await open.proofs.keep(result.proof);
  }
  const proven = results.flatMap((result) => (result.status === 'proven' ? [result.proof] : []));
  // Nothing proven is not the same as nothing wrong.
  const ok = proven.length > 0 && proven.every(({ ring }) => ring !== 'served');
  const nothing = proven.length > 0 ? [] : [nothingProven(results, out.paint)];
  await out.result({ ok, clients: results.map(spelled) }, () =>
    [told(results, out.paint), ...nothing].join('\n\n'),
  );
  return ok ? 0 : 1;
}

function nothingProven(results: readonly Proving[], paint: Paint): string {
  const isThere = results.some(({ status }) => status === 'not_attached');
  const steps = results.flatMap((result) => ('next_step' in result ? [result.next_step] : []));
  if (steps.length === 0) return paint.red('nothing was proven');
  const what = isThere ? 'attach a client that is installed' : 'install one of them, and attach it';
  return paint.red(`nothing was proven: ${what}, with a step named above, and prove it again`);
}

function spelled(result: Proving) {
  if (result.status !== 'proven') return { ...result };
  const { client, title, status, proof } = result;
  return { client, title, status, proof: { ...proof } };
}

function told(results: readonly Proving[], paint: Paint): string {
  return results.map((result) => describe(result, paint)).join('\n\n');
}

function describe(result: Proving, paint: Paint): string {
  if (result.status !== 'proven') {
    const step = result.next_step === undefined ? '' : `; next: ${paint.cyan(result.next_step)}`;
    return `${result.title}: not proven, ${result.reason}${step}`;
  }
  const { title, version, ring, walls } = result.proof;
  const rows = walls.map((wall) => [outcome(wall, paint), wall.title, wall.note ?? '']);
  return `${paint.bold(title)} ${version}: ring \`${ring}\`\n${table(rows)}`;
}

function outcome({ outcome: word, after_ms }: ProvenWall, paint: Paint): string {
  const text = after_ms === undefined ? word : `${word} after ${(after_ms / 1000).toFixed(1)} s`;
  if (word === 'held') return paint.green(text);
  return word === 'missed' ? paint.red(text) : paint.yellow(text);
}
