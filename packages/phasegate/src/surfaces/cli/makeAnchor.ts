import { resolve } from 'node:path';
import { oneLine, shellWord } from '@phasegate/core/model';
import type { AuditReport } from '@phasegate/core/ports';
import type { AnchorPlaces } from '../../runtime/ports.ts';
import { auditHeadline } from './auditHeadline.ts';
import type { ExitCode, Invocation } from './command.ts';
import { hintOnGiven } from './hintOnGiven.ts';
import type { Paint } from './paint.ts';
import { requireFiles } from './requireFiles.ts';
import { working } from './showWork.ts';
import { unprovenText } from './unprovenText.ts';
import { usageError } from './usage.ts';

/** `phasegate audit anchor`: where all chains end, for a place outside. */
export async function makeAnchor(invocation: Invocation): Promise<ExitCode> {
  const { args, out, server } = invocation;
  if (server !== null) {
    throw usageError(
      'a server makes anchors by itself',
      'call it on the machine of the project, without `--url`',
    );
  }
  const { anchors } = await invocation.project();
  const named = placesOf(args.texts('to'));
  // Before anything is made, or recorded, for a place that cannot take it.
  if (named !== null) await anchors.require(named);
  const places = named ?? (await anchors.configured())?.places ?? {};
  const project = await invocation.open();
  const archives = args.texts('archive').map((file) => resolve(file));
  await requireFiles(archives);
  const made = await working(out, 'verifying the audit', () => anchors.make(project, places, archives));
  const { report, given, failed } = made;
  const { anchor, findings, unproven } = report;
  const isMade = anchor !== undefined;
  const left = unproven === undefined ? {} : { unproven };
  const onlyGiven = report.onlyGiven === true ? { onlyGiven: true } : {};
  const onlyArchives = report.onlyArchives === true ? { onlyArchives: true } : {};
  const wrong = { ...onlyGiven, ...onlyArchives };
  await out.result({ ok: isMade, anchor: anchor ?? null, given, failed, findings, ...wrong, ...left }, () =>
    report.anchor === undefined
      ? noAnchorText(report, out.paint, places)
      : [report.anchor, ...given.map((place) => `given to ${place}`)].join('\n'),
  );
  // What is wrong may be wrong beside those anchors alone, which a verification without them does not show.
  const held = places.file !== undefined && (await anchors.read(places.file).catch(() => [])).length > 0;
  const hint = isMade ? null : hintFor(report, held ? places.file : undefined);
  if (hint !== null) await out.log(`${out.paint.cyan('hint:')} ${hint}`);
  if (unproven !== undefined) await out.log(`${out.paint.yellow('warning:')} ${unprovenText(unproven)}`);
  for (const reason of failed) await out.log(`${out.paint.red('error:')} ${reason}`);
  return isMade && failed.length === 0 ? 0 : 1;
}

/** INVARIANT: what was given is never told as the audit, nor the other way round. */
function noAnchorText(report: AuditReport, paint: Paint, { file }: AnchorPlaces): string {
  const headline = auditHeadline(report, paint);
  const [first] = report.findings;
  const message = oneLine(first?.message ?? '');
  if (report.onlyGiven !== true && report.onlyArchives !== true) {
    return `${headline}, and no anchor was made of it: ${message}`;
  }
  const what =
    first?.kind === 'head_invalid' && file !== undefined
      ? `the last anchor in \`${oneLine(file)}\` does not have the project's signature`
      : message;
  return `${headline}, and no anchor was made: ${what}; the audit itself verifies`;
}

/** `file`: the anchors that it was verified from. */
function hintFor(report: AuditReport, file: string | undefined): string {
  if (report.onlyGiven !== true && report.onlyArchives !== true) {
    if (file === undefined) return '`phasegate audit verify` says all that is wrong with it';
    const word = shellWord(file);
    return `\`phasegate audit verify --anchor ${word}\` says all that is wrong with it; if a human restored an older backup, that is what was lost: keep the old anchors under another name (\`mv ${word} NAME\`), and a new file begins`;
  }
  return hintOnGiven(
    report,
    'name another file: one with anchors of this project, or one that is not there yet',
  );
}

function placesOf(words: readonly string[]): AnchorPlaces | null {
  if (words.length === 0) return null;
  const files = words.filter((word) => word !== 'git-note');
  if (files.length > 1) throw usageError('`--to` takes one file', 'name one file, `git-note`, or both');
  const [file] = files;
  return { gitNote: words.includes('git-note'), ...(file === undefined ? {} : { file: resolve(file) }) };
}
