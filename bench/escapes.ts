/**
 * The same dishonest scripts in each real client, under no guard, its own rules, tdd-guard (Claude Code alone) and
 * Phasegate: what was prevented, what was noticed and what was missed, and what each guard adds to an honest call. Every
 * guard must let an honest session pass; models are scripted and on this machine.
 *
 *   npm run bench:escapes [-- NAME…] [--quick] [--json] [--write]
 *
 * `--quick` times one honest session of each kind instead of three, `--write` renews the page and the table of the README:
 * of all clients, or of those that are named.
 */
import { parseArgs } from 'node:util';
import { installClients } from '../test/clients/installClients.ts';
import { writePages } from './escapes/pages.ts';
import { type ClientRecord, clientsNamed, recordOf, versionOf } from './escapes/record.ts';
import { plainTable } from './escapes/tables.ts';
import { print } from './transitions/measure.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, write: { type: 'boolean' } },
});
const names = clientsNamed(positionals);
const { bin, there, missing } = installClients([...names, 'tdd-guard']);
for (const { name, why } of missing) console.error(`${name} cannot be installed: ${why}`);

const clients: ClientRecord[] = [];
for (const name of names.filter((one) => there.includes(one))) {
  const tell = (line: string) => console.error(line);
  clients.push(await recordOf(name, { bin, rounds: values.quick === true ? 1 : 3, tell }));
  if (values.json !== true) print(plainTable(clients.at(-1) as ClientRecord));
}
const record = { tddGuard: there.includes('tdd-guard') ? versionOf('tdd-guard', bin) : null, clients };
if (values.json === true) print(JSON.stringify(record, null, 2));
if (values.write === true) writePages(record);
process.exitCode = missing.length > 0 ? 3 : 0;
