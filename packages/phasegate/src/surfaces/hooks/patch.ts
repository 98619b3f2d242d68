import { type Json, own, type ToolUse } from '@phasegate/core';
import type { ToolMeaning, Unreadable } from './tools.ts';

/**
 * A patch in one text: every file it names, with what is done to it. Unreadable where it has a header nobody knows, or one
 * that programs could read differently: what white space is, and where a line ends, is not the same in every language.
 */
export function patch(...names: readonly string[]): ToolMeaning {
  return (input) => {
    const texts = names.map((name) => own(input, name)).filter((text): text is Json => text !== undefined);
    if (!texts.every((text): text is string => typeof text === 'string')) return null;
    const text = texts.join('\n');
    if (text.length > LONGEST_PATCH)
      return { unreadable: 'the patch is longer than 4 MB; make several of it' };
    const uses: ToolUse[] = [];
    for (const [at, line] of text.split('\n').entries()) {
      const read = headerIn(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (read === 'none') continue;
      if ('unreadable' in read) return { unreadable: `line ${at + 1} of the patch ${read.unreadable}` };
      if (uses.length > MOST_FILES)
        return { unreadable: `the patch names more than ${MOST_FILES} files; make several of it` };
      uses.push({
        tool: read.act === 'Update File' ? 'edit_file' : 'write_files',
        input: { path: read.path },
      });
    }
    return uses.length === 0 ? { unreadable: 'the patch names no file' } : uses;
  };
}

interface Header {
  readonly act: string;
  readonly path: string;
}

/** The header in a line; `none` where it names no file; else why it may be one and cannot be read for certain. */
function headerIn(line: string): Header | 'none' | Unreadable {
  let header: string | undefined;
  for (let at = line.indexOf(MARK); at >= 0; at = line.indexOf(MARK, at + MARK.length)) {
    if (!WHITE.test(line[at + MARK.length] ?? 'x')) continue;
    let start = at;
    while (start > 0 && WHITE.test(line[start - 1] ?? '')) start -= 1;
    const before = line.slice(start, at);
    // To some a line begins after each of these.
    if (start > 0 && !BREAK.test(before)) continue;
    if (!isBlank(before)) return NOT_PLAIN;
    header = line.slice(at + MARK.length);
  }
  return header === undefined ? 'none' : readHeader(header);
}

function readHeader(header: string): Header | 'none' | Unreadable {
  let end = header.length;
  while (end > 0 && isBlank(header[end - 1] ?? '')) end -= 1;
  const said = header.slice(1, end);
  if (header[0] !== ' ') return NOT_PLAIN;
  if (BETWEEN.has(said)) return 'none';
  const act = ACTS.find((one) => said.startsWith(`${one}: `));
  if (act === undefined) return UNKNOWN;
  const path = said.slice(act.length + 2);
  return path === '' || path.startsWith(' ') || ODD.test(path) ? ODD_PATH : { act, path };
}

function isBlank(text: string): boolean {
  for (const one of text) if (one !== ' ' && one !== '\t') return false;
  return true;
}

const NOT_PLAIN: Unreadable = {
  unreadable:
    'has `***` beside characters that programs read differently; use spaces, tabs and line ends alone',
};
const UNKNOWN: Unreadable = { unreadable: 'begins with `***` and is not a header that is known' };
const ODD_PATH: Unreadable = {
  unreadable:
    'names its file with nothing, a colon, or white space and signs that programs read differently; write a path with plain characters',
};

const MARK = '***';
const ACTS = ['Add File', 'Update File', 'Delete File', 'Move to'];
const BETWEEN: ReadonlySet<string> = new Set(['Begin Patch', 'End Patch', 'End of File']);
/** What any language trims, or does not show. */
const WHITE = /[\s\p{Z}\p{Cc}\p{Cf}]/u;
const BREAK = /(?!\t)\p{Cc}|[\p{Zl}\p{Zp}]/u;
/** Not in a path: what is trimmed, cut off or not shown somewhere. Some clients read up to a colon. */
const ODD = /[^\S ]|[\p{Zl}\p{Zp}\p{Cc}\p{Cf}:]|(?! )\p{Zs}/u;
const LONGEST_PATCH = 4 * 1024 * 1024;
const MOST_FILES = 1000;
