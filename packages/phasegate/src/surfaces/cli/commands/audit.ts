import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type AuditRecord, own, type Principal } from '@phasegate/core';
import { oneLine, systemReason } from '@phasegate/core/model';
import type { AuditReport } from '@phasegate/core/ports';
import { anchorsAt } from '../anchorsAt.ts';
import { type ArchiveHere, archivesHere } from '../archivesHere.ts';
import { auditRecords, byTime, feedRecords } from '../auditRecords.ts';
import { auditVerdict } from '../auditVerdict.ts';
import type { CliCommand, ExitCode, Invocation } from '../command.ts';
import { hintOnGiven } from '../hintOnGiven.ts';
import type { Paint } from '../paint.ts';
import { requireFiles } from '../requireFiles.ts';
import { wholeRun } from '../runOf.ts';
import { working } from '../showWork.ts';
import { FIND_ARCHIVES, missingArchives } from '../text/missingArchives.ts';
import { visibleJson } from '../text/visible.ts';
import { callerOf, HUMAN_OPTIONS, signInAtServer } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { unwritable } from '../writeText.ts';

/** `phasegate audit`: verify, anchor, export, tail. */
export const audit: CliCommand = {
  usage: [
    'audit verify [--anchor FILE|git-note] [--since ANCHOR] [--archive FILE]',
    'audit anchor [--to FILE|git-note]… [--archive FILE]',
    'audit export [--run RUN] [--output FILE]',
    'audit tail [--run RUN] [-n N] [--follow]',
  ],
  details:
    'verify checks every chain, seal and head and exits with 1 when one is broken. anchor verifies, prints where all\n' +
    'chains end, signed by the project, and gives it to the places of --to, else to those of the config: keep it outside.\n' +
    'verify --anchor reads the anchors of a file, or of notes (`git-note`, `git-note:REF`), and checks that all chains go\n' +
    'through every one: an older database that was put back, or one rewritten with its own keys, shows. --since takes one\n' +
    "anchor and reads the project's own chain and runs that changed since; an edit in an old record of another run is found\n" +
    'without it. --archive verifies a file of `phasegate archive` too, and may be given several times; anchors of a time\n' +
    'when a run of it was under way need it, where it is not where it was written. export prints one record\n' +
    'per line. Without a credential export and tail show what an agent may see.\n' +
    'On a terminal tail prints a short line for each record: when, run, event, by whom, and the code of a refusal.',
  examples: [
    'phasegate audit verify',
    'phasegate audit anchor --to /mnt/safe/anchors',
    'phasegate audit verify --anchor /mnt/safe/anchors',
    'phasegate audit verify --since ANCHOR',
    'phasegate audit verify --archive /mnt/safe/runs.jsonl',
    'phasegate audit export --run RUN',
    'phasegate audit tail --follow',
  ],
  options: {
    run: { type: 'text', of: ['export', 'tail'], value: 'RUN', summary: 'only the chain of this run' },
    since: {
      type: 'text',
      of: ['verify'],
      value: 'ANCHOR',
      summary: 'read only what is newer than this line, which `audit anchor` printed',
    },
    anchor: {
      type: 'texts',
      of: ['verify'],
      value: 'FILE|git-note',
      summary: 'check that all chains go through these anchors',
    },
    to: { type: 'texts', of: ['anchor'], value: 'FILE|git-note', summary: 'give it to this place' },
    archive: {
      type: 'texts',
      of: ['verify', 'anchor'],
      value: 'FILE',
      summary: 'verify this archive of runs too',
    },
    output: { type: 'text', of: ['export'], value: 'FILE', summary: 'write to a file instead of stdout' },
    lines: { type: 'text', of: ['tail'], short: 'n', value: 'N', summary: 'how many records (default 20)' },
    follow: { type: 'flag', of: ['tail'], short: 'f', summary: 'keep printing records as they come' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['verify|anchor|export|tail'],
  server: 'used',
  async run(invocation) {
    const [action] = invocation.args.positionals;
    switch (action) {
      case 'verify':
        return verifyAudit(invocation);
      case 'anchor':
        return (await import('../makeAnchor.ts')).makeAnchor(invocation);
      case 'export':
        return exportAudit(invocation);
      case 'tail':
        return tailAudit(invocation);
      default:
        throw usageError(
          `\`phasegate audit\` has no \`${action}\``,
          'it has `verify`, `anchor`, `export` and `tail`',
        );
    }
  },
};

async function verifyAudit(invocation: Invocation): Promise<ExitCode> {
  const { args, out } = invocation;
  const [since, places] = [args.text('since'), args.texts('anchor')];
  const archives = args.texts('archive').map((file) => resolve(file));
  if (invocation.server !== null && archives.length > 0) {
    throw usageError(
      'a server verifies no archives',
      'verify on the machine of the project, without `--url`',
    );
  }
  if (invocation.server !== null && (since !== undefined || places.length > 0)) {
    throw usageError('a server knows no anchors', 'verify on the machine of the project, without `--url`');
  }
  // A name of a file, or a part of an anchor: nothing is wrong with the audit then.
  if (since !== undefined && !/^[\w-]{40,}\.[\w-]+$/.test(since)) {
    throw usageError(
      `\`${oneLine(since)}\` is not an anchor`,
      '`--since` takes the line that `phasegate audit anchor` printed; `--anchor FILE` reads a file of them',
    );
  }
  await requireFiles(archives);
  await signInAtServer(invocation);
  const anchors = places.length === 0 ? undefined : await anchorsAt(invocation, places);
  const project = await invocation.reach();
  const report = await working(out, 'verifying the audit', (report) => {
    const onProgress = (steps: number) => report(`${steps} steps`);
    const by = { ...(since === undefined ? {} : { since }), ...(anchors === undefined ? {} : { anchors }) };
    return project.verifyAudit({ ...by, archives, onProgress });
  });
  const bundles =
    invocation.server === null
      ? await archivesHere(report.archived, archives)
      : // Where the server is, and not here.
        (report.archived ?? []).map(({ runs, file }) => ({ runs, file, note: '' }));
  await out.result(withStates(report, bundles), () =>
    auditVerdict(report, { paint: out.paint, anchors: anchors?.length, bundles }),
  );
  await tellNext(out, report, bundles);
  return report.ok ? 0 : 1;
}

/** What is to be done, beside what was found: an archive that is gone, or one that was given and is not of this project. */
async function tellNext(
  { log, paint }: Invocation['out'],
  report: AuditReport,
  bundles: readonly ArchiveHere[],
): Promise<void> {
  const hint =
    report.onlyGiven === true || report.onlyArchives === true ? hintOnGiven(report, ANOTHER_ANCHOR) : null;
  if (hint !== null) await log(`${paint.cyan('hint:')} ${hint}`);
  // Those that an anchor needs are told of with it.
  const needed = new Set(report.unproven?.archives);
  const missing = bundles.filter(({ state, file }) => state === 'missing' && !needed.has(file));
  const warning = missingArchives(missing.map(({ file }) => file));
  if (warning === null) return;
  await log(`${paint.yellow('warning:')} ${warning}`);
  await log(`${paint.cyan('hint:')} ${FIND_ARCHIVES}`);
}

const ANOTHER_ANCHOR =
  'name an anchor of this project, or a file that `phasegate audit anchor --to FILE` wrote for it';

/** The report, with what its text says of archives: whether each is there, and where it was read if not where it was. */
function withStates(report: AuditReport, bundles: readonly ArchiveHere[]): AuditReport {
  const { archived } = report;
  if (archived === undefined) return report;
  const told = archived.map((bundle, index) => {
    const { state, file } = bundles[index] ?? {};
    if (state === undefined) return bundle;
    return { ...bundle, state, ...(file === bundle.file ? {} : { found: file }) };
  });
  return { ...report, archived: told };
}

async function exportAudit(invocation: Invocation): Promise<ExitCode> {
  const { args, out } = invocation;
  const caller = await callerOf(invocation);
  const gate = (await invocation.reach()).as(caller);
  const records = auditRecords(gate, await namedRun(invocation, caller));
  const file = args.text('output');
  if (file !== undefined) {
    let count = 0;
    async function* lines(): AsyncGenerator<string> {
      for await (const record of records) {
        count++;
        yield exportedLine(record);
      }
    }
    const written = working(out, 'exporting the audit', async (report) => {
      async function* reported(): AsyncGenerator<string> {
        for await (const line of lines()) {
          report(`${count} records`);
          yield line;
        }
      }
      await writeFile(file as string, reported(), { mode: 0o600 });
    });
    await written.catch((error: unknown) => {
      throw systemReason(error) === null ? error : unwritable(file, error);
    });
    await out.result({ file, records: count }, () => `wrote ${count} records to ${file}`);
  } else if (out.json) {
    await out.result({ records: await gather(records) }, () => '');
  } else {
    for await (const record of records) {
      if (out.closed) break;
      await out.raw(exportedLine(record));
    }
  }
  return 0;
}

async function tailAudit(invocation: Invocation): Promise<ExitCode> {
  const { args, out } = invocation;
  const follow = args.flag('follow');
  // One JSON value is promised, and a stream that does not end is none.
  if (follow && out.json) throw usageError('`--follow` and `--json` exclude each other');
  const lines = args.text('lines') ?? '20';
  if (!/^\d{1,6}$/.test(lines)) throw usageError('`-n` needs a number', 'phasegate audit tail -n 20');
  const lineOf = out.screen === null ? recordLine : (record: AuditRecord) => shortLine(record, out.paint);
  const fresh = await freshRecords(invocation);
  const all = await fresh();
  const last = Number(lines) === 0 ? [] : all.slice(-Number(lines));
  await out.result({ records: last }, () => last.map(lineOf).join('\n'));
  while (follow && !out.closed) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const record of await fresh()) await out.result({}, () => lineOf(record));
  }
  return 0;
}

/** Gives, each time, the records that came since the time before. */
async function freshRecords(invocation: Invocation): Promise<() => Promise<readonly AuditRecord[]>> {
  const caller = await callerOf(invocation);
  const project = await invocation.reach();
  const run = await namedRun(invocation, caller);
  if (invocation.server !== null && run === undefined) {
    // One question instead of one for each run.
    let last = 0;
    return async () => {
      const records: AuditRecord[] = [];
      for await (const { id, ...record } of feedRecords(project, last)) {
        records.push(record);
        last = id;
      }
      return byTime(records);
    };
  }
  const seen = new Map<string | null, number>();
  return async () => {
    const records = await gather(auditRecords(project.as(caller), run, seen));
    for (const record of records) seen.set(record.run, record.seq);
    return byTime(records);
  };
}

/** The run of `--run`, by its id or the beginning of it. */
async function namedRun(invocation: Invocation, caller: Principal): Promise<string | undefined> {
  const word = invocation.args.text('run');
  return word === undefined ? undefined : wholeRun(invocation, caller, word);
}

async function gather(records: AsyncIterable<AuditRecord>): Promise<AuditRecord[]> {
  const list: AuditRecord[] = [];
  for await (const record of records) list.push(record);
  return list;
}

/** The record's own value, in which a terminal finds nothing to obey. */
function exportedLine(record: AuditRecord): string {
  return `${visibleJson(JSON.stringify(record))}\n`;
}

/** For a reader at a terminal: when, in which run, what, by whom, and the code of a refusal. `--json` has all of it. */
function shortLine({ time, run, principal, event, data }: AuditRecord, paint: Paint): string {
  const blockers = own(data, 'blockers');
  const code = own(data, 'code') ?? own(Array.isArray(blockers) ? (blockers[0] ?? null) : null, 'code');
  const phase = own(data, 'phase');
  const about = typeof phase === 'string' || typeof phase === 'number' ? ` ${oneLine(String(phase))}` : '';
  const [kind, ...name] = principal.split(':');
  const parts = [
    paint.dim(time.replace('T', ' ').replace(/\.\d+Z$/, 'Z')),
    (run ?? 'project').slice(0, SHORT_RUN).padEnd(SHORT_RUN),
    `${event}${about}`,
    `by ${[kind, ...(name.length === 0 ? [] : [oneLine(name.join(':'))])].join(' ')}`,
    ...(typeof code === 'string' ? [paint.red(`[${oneLine(code)}]`)] : []),
  ];
  return parts.join('  ');
}

/** As much of an id as commands take in its place, where no two runs begin alike. */
const SHORT_RUN = 'run-01234567'.length;

function recordLine({ time, run, seq, principal, event, data }: AuditRecord): string {
  return `${time}  ${run ?? 'project'} #${seq}  ${principal}  ${event}  ${JSON.stringify(data)}`;
}
