import { resolve } from 'node:path';
import type { AnchorPlaces } from '../../runtime/ports.ts';
import type { ExitCode, Invocation } from './command.ts';
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
  const places = named ?? (await anchors.configured())?.places ?? {};
  const project = await invocation.open();
  const archives = args.texts('archive').map((file) => resolve(file));
  await requireFiles(archives);
  const made = await working(out, 'verifying the audit', () => anchors.make(project, places, archives));
  const { report, given, failed } = made;
  const { anchor, findings, unproven } = report;
  const isMade = anchor !== undefined;
  const left = unproven === undefined ? {} : { unproven };
  await out.result({ ok: isMade, anchor: anchor ?? null, given, failed, findings, ...left }, () =>
    report.anchor === undefined
      ? `${out.paint.red('the audit is broken')}, and no anchor was made of it: ${report.findings[0]?.message}`
      : [report.anchor, ...given.map((place) => `given to ${place}`)].join('\n'),
  );
  if (unproven !== undefined) await out.log(`${out.paint.yellow('warning:')} ${unprovenText(unproven)}`);
  for (const reason of failed) await out.log(`${out.paint.red('error:')} ${reason}`);
  return isMade && failed.length === 0 ? 0 : 1;
}

function placesOf(words: readonly string[]): AnchorPlaces | null {
  if (words.length === 0) return null;
  const files = words.filter((word) => word !== 'git-note');
  if (files.length > 1) throw usageError('`--to` takes one file', 'name one file, `git-note`, or both');
  const [file] = files;
  return { gitNote: words.includes('git-note'), ...(file === undefined ? {} : { file: resolve(file) }) };
}
