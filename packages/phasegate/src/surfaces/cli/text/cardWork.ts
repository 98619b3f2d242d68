import { type Json, own } from '@phasegate/core';
import { type CardPage, word } from './cardPage.ts';

/** What the card has of the work since a human decided last. */
export interface CardWork {
  readonly files: readonly Json[];
  readonly changed: readonly Json[];
  readonly changedUnnamed: readonly Json[];
  readonly programs: readonly Json[];
  readonly programsUnnamed: readonly Json[];
  readonly calls: readonly Json[];
  readonly receipts: readonly Json[];
  readonly refused: readonly Json[];
  /** What changed in the workspace after the gate opened. */
  readonly moved: readonly Json[];
}

/** Takes it from the card. */
export function takeWork(page: CardPage): CardWork {
  return {
    files: page.list('files'),
    changed: page.list('changed'),
    changedUnnamed: unnamedIn(page.take('changed_unnamed')),
    programs: page.list('programs'),
    programsUnnamed: unnamedIn(page.take('programs_unnamed')),
    calls: page.list('calls'),
    receipts: page.list('receipts'),
    refused: page.list('refused'),
    moved: page.list('changed_since'),
  };
}

/** A server of an earlier version tells a number. */
function unnamedIn(value: Json | undefined): readonly Json[] {
  if (typeof value === 'number') return [{ times: value }];
  return Array.isArray(value) ? value : [];
}

/** The tools that the engine carried out, on one line; null where it has no receipt. */
export function receiptText({ receipts }: CardWork): string | null {
  if (receipts.length === 0) return null;
  const told = receipts.map((receipt) => {
    const failed = own(receipt, 'failed');
    const bad = failed === 0 ? '' : `, ${word(failed)} without success`;
    return `${word(own(receipt, 'tool'))} ${word(own(receipt, 'times'))}${inPhase(receipt)}${bad}`;
  });
  return `tools it carried out, with receipts: ${told.join('; ')}`;
}

/** What is said where the engine saw nothing: that no tool was called is only said where none was allowed. */
export function nothingSeen(work: CardWork): string {
  if (isAllowedNothing(work)) return 'no check looked at the world, and no tool was carried out';
  return 'no check looked at the world; tools were allowed, and there is a receipt for none of them';
}

function isAllowedNothing({ changed, changedUnnamed, programs, programsUnnamed, calls }: CardWork): boolean {
  return [changed, changedUnnamed, programs, programsUnnamed, calls].every((list) => list.length === 0);
}

/** What is known to have changed: what the fence compared, and what calls were allowed to do. */
export function changeLines(page: CardPage, work: CardWork, run: string): readonly string[] {
  const { programs, calls } = work;
  const attached = calls.filter((one) => isAttached(one));
  const others = calls.filter((one) => !isAttached(one));
  return [
    ...filesLines(page, work),
    ...work.changed.flatMap((one) => [
      ...page.line(`paths that calls were allowed to write in phase ${word(own(one, 'phase'))}:`),
      ...page.said(listIn(one, 'paths').map(word).join('\n')),
      ...restLines(page, one),
    ]),
    ...unnamedLines(page, 'writes whose paths were too long to record', work.changedUnnamed),
    ...countedLines(page, 'programs that were allowed; what each of them changed is not recorded:', {
      list: programs,
      text: (one) => `${own(one, 'tool')}: ${own(one, 'command')}${maskedNote(one)}`,
    }),
    ...unnamedLines(page, 'programs whose command line was too long to record', work.programsUnnamed),
    ...countedLines(page, 'tools of attached servers that were allowed; what they did is not recorded:', {
      list: attached,
      text: (one) => String(own(one, 'tool')),
    }),
    ...countedLines(page, 'other calls that were allowed:', {
      list: others,
      text: (one) => String(own(one, 'tool')),
    }),
    ...(isAllowedNothing(work) ? page.line('no write and no program went through Phasegate') : []),
    ...(isCut(work) ? page.line(`all of it: phasegate audit export --run ${run}`) : []),
  ];
}

/** A mask hides whatever it was put over, not only secrets: who decides must know that it is there. */
function maskedNote(one: Json): string {
  return own(one, 'masked') === true ? ' (! not all of it is shown: what is masked ran too)' : '';
}

/** What the comparison of the workspace found in each phase, or that there was none. */
function filesLines(page: CardPage, { files, moved }: CardWork): readonly string[] {
  if (files.length === 0)
    return page.line('the workspace was not compared: what an agent writes by itself is not seen here');
  const lines = files.flatMap((one) => {
    const phase = word(own(one, 'phase'));
    const found = listIn(one, 'files');
    if (own(one, 'files') === undefined)
      return page.line(`and ${word(own(one, 'more'))} more times that phase ${phase} was left`);
    if (found.length === 0)
      return page.line(`no file changed in phase ${phase}, as Phasegate compared the workspace`);
    return [
      ...page.line(`files changed in phase ${phase}, as Phasegate compared the workspace:`),
      ...page.said(found.map((file) => `${word(own(file, 'how'))} ${word(own(file, 'path'))}`).join('\n')),
      ...restLines(page, one),
    ];
  });
  const later = moved.length === 0 ? [] : page.line('files changed after the gate opened: see the warnings');
  return [...lines, ...later, ...page.line('files that ignore rules leave out are not compared')];
}

/** How many more paths there are, and every folder they are in. */
function restLines(page: CardPage, one: Json): readonly string[] {
  const more = own(one, 'more');
  if (more === undefined) return [];
  const folders = listIn(one, 'folders');
  const moreFolders = own(one, 'more_folders');
  if (folders.length === 0) return page.line(`and ${word(more)} more`);
  return [
    ...page.line(`and ${word(more)} more; all of them by folder:`),
    ...page.said(
      folders.map((folder) => `${word(own(folder, 'count'))} in ${word(own(folder, 'folder'))}`).join('\n'),
    ),
    ...(moreFolders === undefined ? [] : page.line(`and ${word(moreFolders)} more folders`)),
  ];
}

function unnamedLines(page: CardPage, what: string, list: readonly Json[]): readonly string[] {
  return list.flatMap((one) => page.line(`${what}: ${word(own(one, 'times'))}${inPhase(one)}`));
}

function countedLines(
  page: CardPage,
  title: string,
  { list, text }: { readonly list: readonly Json[]; readonly text: (one: Json) => string },
): readonly string[] {
  if (list.length === 0) return [];
  return [...page.line(title), ...list.flatMap((one) => counted(page, one, text))];
}

/** What was tried and refused. */
export function refusedLines(page: CardPage, { refused }: CardWork): readonly string[] {
  return countedLines(page, '! tried since a human decided last, and refused:', {
    list: refused,
    text: (one) => `${own(one, 'what')}: ${own(one, 'message')} [${own(one, 'code')}]`,
  });
}

/** One of many like it, or how many more there are. */
function counted(page: CardPage, one: Json, text: (one: Json) => string): readonly string[] {
  const more = own(one, 'more');
  if (more !== undefined) return page.line(`and ${word(more)} more${inPhase(one)}`);
  const times = own(one, 'times');
  const often = times === 1 || times === undefined ? '' : ` (${word(times)} times)`;
  return page.said(`${text(one)}${often}${inPhase(one)}`);
}

function inPhase(one: Json): string {
  const phase = own(one, 'phase');
  return phase === undefined ? '' : `, in phase ${word(phase)}`;
}

function isAttached(one: Json): boolean {
  return own(one, 'tool') === undefined || String(own(one, 'tool')).startsWith('mcp:');
}

function isCut(work: CardWork): boolean {
  const lists = [work.files, work.changed, work.programs, work.calls, work.refused];
  const isShort = (one: Json) =>
    own(one, 'more') !== undefined || LONG.test(`${own(one, 'command')}${own(one, 'message')}`);
  return lists.some((list) => list.some(isShort));
}

/** As a card has what it shortens. */
const LONG = /… \(\d+ characters\)/;

function listIn(one: Json, key: string): readonly Json[] {
  const value = own(one, key);
  return Array.isArray(value) ? value : [];
}
