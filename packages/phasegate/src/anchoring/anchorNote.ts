import { PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { ReadingGit } from '../workspace/readingGit.ts';
import { anchorsIn } from './anchorFile.ts';

/** Where notes with anchors are. */
export const ANCHOR_NOTES = 'refs/notes/phasegate-anchors';

/** Throws where there is no commit that a note could be at, before an anchor is made for it. */
export async function requireCommit(git: ReadingGit): Promise<void> {
  const commit = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', 'HEAD^{commit}']);
  if (commit.code === 0) return;
  const isRepository = (await git(['rev-parse', '--git-dir'])).code === 0;
  throw isRepository
    ? unnoted('there is no commit yet', 'make a first commit, or name a file: `--to FILE`')
    : unnoted('the project is not in a repository of git', 'name a file: `--to FILE`');
}

/** Adds an anchor to the note of the newest commit. It is outside once somebody has pushed it. */
export async function addToNote(git: ReadingGit, anchor: string): Promise<void> {
  const words = ['-c', 'user.name=phasegate', '-c', 'user.email=phasegate@localhost', 'notes'];
  const { code, said } = await git([...words, `--ref=${ANCHOR_NOTES}`, 'append', '-m', anchor, 'HEAD']);
  if (code === 0) return;
  await requireCommit(git);
  throw unnoted(said, 'look at what git says, or name a file: `--to FILE`');
}

/** The anchors in all notes of a ref. */
export async function readNotes(git: ReadingGit, ref: string): Promise<readonly string[]> {
  if (!/^refs\/[\w./-]+$/.test(ref)) {
    throw new PhasegateError('usage', `\`${oneLine(ref)}\` is not the whole name of a ref`, {
      hint: `write \`git-note:${ANCHOR_NOTES}\``,
    });
  }
  const listed = await git(['ls-tree', '-r', '--object-only', '--end-of-options', ref]);
  if (listed.code !== 0) throw failed(`there are no notes at \`${ref}\`: ${listed.said}`);
  const anchors: string[] = [];
  for (const id of listed.out
    .toString()
    .split('\n')
    .filter((line) => line !== '')) {
    const note = await git(['cat-file', 'blob', id]);
    if (note.code !== 0) throw failed(`the note ${id} cannot be read: ${note.said}`);
    anchors.push(...anchorsIn(note.out.toString()));
  }
  return anchors;
}

function unnoted(reason: string, hint: string): PhasegateError {
  return new PhasegateError('file_unreadable', `no anchor can be added to a note of git: ${reason}`, {
    hint,
  });
}

function failed(message: string): PhasegateError {
  return new PhasegateError('file_unreadable', message, {
    hint: 'fetch them: `git fetch origin refs/notes/phasegate-anchors:refs/notes/phasegate-anchors`',
  });
}
