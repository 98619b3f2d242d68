import { type Json, own } from '@phasegate/core';
import { changeText, type TreeChange } from '@phasegate/core/engine';
import { type CardPage, short, word } from './cardPage.ts';

/** What the phase changed, file by file, as the engine kept it: the workspace is not read for it. */
export function diffLines(page: CardPage): readonly string[] {
  const [files, rest] = [page.list('diff'), page.take('diff_rest')];
  if (files.length === 0 && rest === undefined) return [];
  const { paint } = page.screen;
  return [
    ...page.heading('What the phase changed').map(paint.green),
    ...files.flatMap((file) => fileLines(page, file)),
    ...(rest === undefined
      ? []
      : page.line(
          `! and ${word(own(rest, 'files'))} more files, not shown; hash over all of them ${short(own(rest, 'hash'))}`,
        )),
  ];
}

function fileLines(page: CardPage, file: Json): readonly string[] {
  const { paint } = page.screen;
  const change = changeText({ ...(file as unknown as TreeChange), path: word(own(file, 'path')) });
  const [added, removed] = [own(file, 'added'), own(file, 'removed')];
  const lines = added === undefined ? '' : `, +${word(added)} -${word(removed)} lines`;
  const outside = own(file, 'outside') === true ? ', outside the scope of the phase' : '';
  const untold = own(file, 'untold');
  const permissions = own(file, 'permissions');
  const allowed = permissions === undefined ? '' : `, permissions ${word(permissions)}`;
  const head = page.line(`${outside === '' ? '-' : '!'} ${change}${lines}${allowed}${outside}`);
  const text = own(file, 'diff');
  const [cut, shortened] = [own(file, 'lines_cut'), own(file, 'lines_shortened')];
  return [
    ...(outside === '' ? head : head.map(paint.red)),
    ...(untold === undefined ? [] : page.line(`  not shown: ${word(untold)}; ${hashes(file)}`)),
    ...(typeof text === 'string' && text !== '' ? page.said(text) : []),
    ...(cut === undefined ? [] : page.line(`! ${word(cut)} more lines of it are not shown; ${hashes(file)}`)),
    ...(shortened === undefined
      ? []
      : page.line(`! ${word(shortened)} lines of it are longer than shown; ${hashes(file)}`)),
  ];
}

/** What stands for what is not shown. */
function hashes(file: Json): string {
  const [before, after] = [own(file, 'before') ?? null, own(file, 'after') ?? null];
  const was = before === null ? 'it was not there' : `it was ${short(before)}`;
  return `${was} and is ${after === null ? 'gone' : short(after)}`;
}
