import { resolve } from 'node:path';
import type { AnchorPlaces } from '../../runtime/ports.ts';
import type { ExitCode, Invocation } from './command.ts';
import { working } from './showWork.ts';
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
  const made = await working(out, 'verifying the audit', () => anchors.make(project, places));
  const { report, given, failed } = made;
  await out.result(
    { ok: report.ok, anchor: report.anchor ?? null, given, failed, findings: report.findings },
    () =>
      report.anchor === undefined
        ? `${out.paint.red('the audit is broken')}, and no anchor was made of it: ${report.findings[0]?.message}`
        : [report.anchor, ...given.map((place) => `given to ${place}`)].join('\n'),
  );
  for (const reason of failed) await out.log(`${out.paint.red('error:')} ${reason}`);
  return report.ok && failed.length === 0 ? 0 : 1;
}

function placesOf(words: readonly string[]): AnchorPlaces | null {
  if (words.length === 0) return null;
  const files = words.filter((word) => word !== 'git-note');
  if (files.length > 1) throw usageError('`--to` takes one file', 'name one file, `git-note`, or both');
  const [file] = files;
  return { gitNote: words.includes('git-note'), ...(file === undefined ? {} : { file: resolve(file) }) };
}
