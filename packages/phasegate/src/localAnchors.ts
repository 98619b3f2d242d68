import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { own, PhasegateError } from '@phasegate/core';
import { parseDuration, reasonOf } from '@phasegate/core/model';
import type { AuditReport } from '@phasegate/core/ports';
import { addToFile, readAnchorFile, requireAnchorFile } from './anchoring/anchorFile.ts';
import { ANCHOR_NOTES, addToNote, readNotes, requireCommit } from './anchoring/anchorNote.ts';
import { keepAnchors } from './anchoring/keepAnchors.ts';
import { loadConfig } from './config.ts';
import type { Anchored, AnchorPlaces, Anchors, MadeAnchor } from './runtime/ports.ts';
import { readingGit } from './workspace/readingGit.ts';

/** Anchors of a project on this machine. */
export function localAnchors(place: {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Anchors {
  const { root, stateDir, env } = place;
  const git = () => readingGit(root, env);
  const forbidden = () => [realpathSync(root), realpathSync(stateDir)];

  async function configured() {
    const { anchors } = await loadConfig(root);
    if (anchors === null || (anchors.file === undefined && anchors.git_note !== true)) return null;
    const { file, git_note: gitNote = false, every = '1h' } = anchors;
    const places: AnchorPlaces = { ...(file === undefined ? {} : { file: inHome(file, env) }), gitNote };
    return { places, everyMs: (parseDuration(every) ?? 3_600) * 1000 };
  }

  async function make(
    project: Anchored,
    places: AnchorPlaces,
    archives: readonly string[] = [],
  ): Promise<MadeAnchor> {
    const { gitNote } = places;
    const [file, last, unread] = places.file === undefined ? [] : lastOf(places.file);
    const report = await verified(project, last, archives);
    const [given, failed]: [string[], string[]] = [[], unread === undefined ? [] : [unread]];
    if (report.anchor === undefined) {
      const [first] = report.findings;
      await note(project, { ok: false, message: first?.message ?? '' });
      return { report, given, failed };
    }
    const { anchor } = report;
    const give = async (name: string, act: () => void | Promise<void>) => {
      try {
        await act();
        given.push(name);
      } catch (error) {
        failed.push(reasonAndHint(error));
      }
    };
    if (file !== undefined) await give(file, () => addToFile(file, anchor, forbidden()));
    if (gitNote === true) await give(ANCHOR_NOTES, () => addToNote(git(), anchor));
    const { unproven } = report;
    const left = unproven === undefined ? {} : { unproven: unproven.anchors };
    await note(project, { ok: true, anchor, given, failed, ...left });
    return { report, given, failed };
  }

  return {
    configured,
    make,
    async require({ file, gitNote }) {
      if (file !== undefined) requireAnchorFile(file, forbidden());
      if (gitNote === true) await requireCommit(git());
    },
    async read(where) {
      if (where === 'git-note') return readNotes(git(), ANCHOR_NOTES);
      if (where.startsWith('git-note:')) return readNotes(git(), where.slice('git-note:'.length));
      return readAnchorFile(resolve(where));
    },
    async keep(project, log) {
      const wanted = await configured();
      if (wanted === null) return { stop: async () => undefined };
      const { places, everyMs } = wanted;
      const { file } = places;
      return keepAnchors({ everyMs, project, file, log, make: () => make(project, places) });
    },
  };
}

/**
 * Verifies what is newer than the last anchor. INVARIANT: where that one cannot be checked, as an archive is not there,
 * nothing is taken from it: all is verified, and the project's chain must go through it still.
 */
async function verified(
  project: Anchored,
  last: string | undefined,
  archives: readonly string[],
): Promise<AuditReport> {
  const wanted = { anchor: true, archives };
  if (last === undefined) return project.verifyAudit(wanted);
  const report = await project.verifyAudit({ ...wanted, since: last });
  if (report.findings.length > 0 || report.unproven === undefined) return report;
  return project.verifyAudit({ ...wanted, anchors: [last] });
}

async function note(project: Anchored, data: Parameters<Anchored['server']['note']>[2]): Promise<void> {
  await project.server.note('audit_anchored', { kind: 'engine', name: 'phasegate' }, data);
}

/** The file where anchors can be added to it, its last one, and why they cannot; a file that is not there yet has none. */
function lastOf(
  file: string,
): readonly [file?: string | undefined, last?: string | undefined, problem?: string] {
  try {
    const last = readAnchorFile(file).at(-1);
    return last === undefined ? [file] : [file, last];
  } catch (error) {
    if (own(own(error, 'cause'), 'code') === 'ENOENT') return [file];
    return [undefined, undefined, reasonAndHint(error)];
  }
}

/** Of a place that does not take an anchor. Others may have taken it, so it is no fault of the whole. */
function reasonAndHint(error: unknown): string {
  if (!(error instanceof PhasegateError)) return reasonOf(error);
  return error.hint === undefined ? error.message : `${error.message}: ${error.hint}`;
}

function inHome(file: string, env: Readonly<Record<string, string | undefined>>): string {
  return file.startsWith('~/') ? join(env.HOME ?? '/', file.slice(2)) : file;
}
