import { PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { ReadingGit } from '../workspace/readingGit.ts';
import { anchorsIn } from './anchorFile.ts';

/** Where notes with anchors are. */
export const ANCHOR_NOTES = 'refs/notes/phasegate-anchors';

/** Adds an anchor to the note of the newest commit. It is outside once somebody has pushed it. */
export async function addToNote(git: ReadingGit, anchor: string): Promise<void> {
  const words = ['-c', 'user.name=phasegate', '-c', 'user.email=phasegate@localhost', 'notes'];
  const { code, said } = await git([...words, `--ref=${ANCHOR_NOTES}`, 'append', '-m', anchor, 'HEAD']);
  if (code !== 0) throw failed(`no note can be added: ${said}`);
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

function failed(message: string): PhasegateError {
  return new PhasegateError('file_unreadable', message, {
    hint: 'fetch them: `git fetch origin refs/notes/phasegate-anchors:refs/notes/phasegate-anchors`',
  });
}
