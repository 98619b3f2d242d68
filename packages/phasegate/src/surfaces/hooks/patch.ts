import { type Json, own, type ToolUse } from '@phasegate/core';
import type { ToolMeaning } from './tools.ts';

/**
 * A patch in one text: every file it names, with what is done to it. Null where it has a header nobody knows, or one
 * that programs could read differently: what white space is, and where a line ends, is not the same in every language.
 */
export function patch(...names: readonly string[]): ToolMeaning {
  return (input) => {
    const texts = names.map((name) => own(input, name)).filter((text): text is Json => text !== undefined);
    if (!texts.every((text): text is string => typeof text === 'string')) return null;
    const text = texts.join('\n');
    if (text.length > LONGEST_PATCH) return null;
    const uses: ToolUse[] = [];
    for (const line of text.split('\n')) {
      const read = headerIn(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (read === null || uses.length > MOST_FILES) return null;
      if (read === 'none') continue;
      uses.push({
        tool: read.act === 'Update File' ? 'edit_file' : 'write_files',
        input: { path: read.path },
      });
    }
    return uses.length === 0 ? null : uses;
  };
}

interface Header {
  readonly act: string;
  readonly path: string;
}

/** The header in a line; `none` where it names no file; null where it may be one and cannot be read for certain. */
function headerIn(line: string): Header | 'none' | null {
  let header: string | undefined;
  for (let at = line.indexOf(MARK); at >= 0; at = line.indexOf(MARK, at + MARK.length)) {
    if (!WHITE.test(line[at + MARK.length] ?? 'x')) continue;
    let start = at;
    while (start > 0 && WHITE.test(line[start - 1] ?? '')) start -= 1;
    const before = line.slice(start, at);
    // To some a line begins after each of these.
    if (start > 0 && !BREAK.test(before)) continue;
    if (!isBlank(before)) return null;
    header = line.slice(at + MARK.length);
  }
  return header === undefined ? 'none' : readHeader(header);
}

function readHeader(header: string): Header | 'none' | null {
  let end = header.length;
  while (end > 0 && isBlank(header[end - 1] ?? '')) end -= 1;
  const said = header.slice(1, end);
  if (header[0] !== ' ') return null;
  if (BETWEEN.has(said)) return 'none';
  const act = ACTS.find((one) => said.startsWith(`${one}: `));
  if (act === undefined) return null;
  const path = said.slice(act.length + 2);
  return path === '' || path.startsWith(' ') || ODD.test(path) ? null : { act, path };
}

function isBlank(text: string): boolean {
  for (const one of text) if (one !== ' ' && one !== '\t') return false;
  return true;
}

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
