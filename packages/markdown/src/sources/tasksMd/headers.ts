/** A phase's header: its id as written and the rest of the line. */
export interface PhaseHeader {
  readonly id: string;
  readonly rest: string;
}

/** A task's header. */
export interface TaskHeader {
  /** As written, without the word `Task`. */
  readonly id: string;
  readonly rest: string;
  /** It says that it is a task: `Task 1.1`, `TASK-001`, `P1-T2a`. A bare number may be anything. */
  readonly named: boolean;
  /** It is named and set off from its name, as definitions are and remarks about a task are not. */
  readonly strong: boolean;
}

const PHASE_ID = String.raw`\d+(?:\.\d+)?[A-Za-z]?`;
const PHASE = new RegExp(String.raw`^phase\s+(${PHASE_ID})\**\s*[:.–—-]\**\s*(\S.*)$`, 'i');
const BARE_PHASE = new RegExp(String.raw`^phase\s+(${PHASE_ID})\**\s*((?:[([].*)?)$`, 'i');
const GROUP = new RegExp(String.raw`^task\s+group\s+(${PHASE_ID})\**\s*[:.–—-]\**\s*(\S.*)$`, 'i');

/** Reads `Phase 1A: Name`, with any of the separators `: - – — .`, in any case, after any emoji. */
export function phaseHeader(text: string): PhaseHeader | null {
  const header = read(PHASE, text);
  // `Phase 1-3 tasks` and `Phase 1 - Phase 2` speak about phases and define none.
  if (header === null || /^(?:phase\s+)?\d+[A-Za-z]?(?:\s*[:)→–-]|\s+tasks?\b|$)/i.test(header.rest))
    return null;
  return header;
}

/** Reads a heading that is nothing but `Phase 1`, perhaps with something in brackets. */
export function barePhaseHeader(text: string): PhaseHeader | null {
  return read(BARE_PHASE, text);
}

/** Reads `Task Group 1: Name`, which is a phase by another name. */
export function groupHeader(text: string): PhaseHeader | null {
  return read(GROUP, text);
}

/** Reads a numbered section: `1. Name`, `Day 1: Name`, `Milestone 2 - Name`. */
export function sectionHeader(text: string): PhaseHeader & { readonly word: string } {
  const match = /^(?:([A-Za-z]+)\s+)?(\d+[A-Za-z]?)\s*[.:)–—-]\s*(\S.*)$/.exec(bare(text));
  if (match === null) return { id: '', rest: text, word: '' };
  return { id: match[2] ?? '', rest: match[3] ?? '', word: match[1] ?? '' };
}

const NAMED_ID = String.raw`task[ \t]+(\d+[A-Za-z]?(?:\.\d+[a-z]?)*|[A-Z]{1,3}\.?\d+(?:\.\d+)*)`;
const DASHED_ID = String.raw`(task[-_](?:[A-Z]+[-_])*\d+[A-Za-z]?(?:\.\d+)*[a-z]?|P\d+[A-Za-z]?-T\d+(?:\.\d+)?[a-z]?)`;
const NAMED = new RegExp(String.raw`^(?:${NAMED_ID}|${DASHED_ID})(?![\w,/]|\.\d|[-–]\d|\s*→)(.*)$`, 'i');
const SEPARATOR = /^(\**)\s*((?:\([^()]*\))?)\s*([:.–—-]?)\s*(\**)\s*(.*)$/;

/** Reads the start of a task: `Task 1.1: Name`, `TASK-001: Name`, `P1-T2a: Name`, `1.1 Name`. */
export function taskHeader(text: string): TaskHeader | null {
  const opened = /^[^\x21-\x7E]*(?:~~)?\**[^\x21-\x7E]*/.exec(text)?.[0] ?? '';
  const start = text.slice(opened.length);
  const named = NAMED.exec(start);
  if (named !== null) {
    const header = namedTask(named[1] ?? named[2] ?? '', named[3] ?? '', opened.includes('**'));
    // A tick before the word is the task's status: it goes where the other marks of the name are.
    return header === null || !/[✅✔☑]/u.test(opened) ? header : { ...header, rest: `✅ ${header.rest}` };
  }
  const bareId = /^(\d+[A-Za-z]?(?:\.\d+)+)(?:\.?\**[:)]?\**[ \t]+|\**[:–—-]\s*)(\S.*)$/.exec(start);
  if (bareId === null) return null;
  return { id: bareId[1] ?? '', rest: bareId[2] ?? '', named: false, strong: false };
}

/** Reads the ids that only a checkbox gives a meaning to: `T001 Name` and `1. Name`. */
export function boxedTaskHeader(text: string): TaskHeader | null {
  const header = taskHeader(text);
  if (header !== null) return header;
  const match = /^\**(?:(T\d{2,4}[a-z]?)\**:?|(\d+)[.)]\**)\s+(\S.*)$/.exec(text);
  if (match === null) return null;
  return { id: match[1] ?? match[2] ?? '', rest: match[3] ?? '', named: false, strong: false };
}

/** Where a task belongs by its id: `1` for `1.2`, `TASK-1.2` and `P1-T2`; empty for `TASK-001` and `7`. */
export function majorOf(id: string): string {
  const match = /^(?:task[-_])?(\d+[A-Za-z]?)\.\d|^P(\d+[A-Za-z]?)-T/i.exec(id);
  return match?.[1] ?? match?.[2] ?? '';
}

/** What two spellings of one id have in common. */
export function taskKey(id: string): string {
  return id.toLowerCase().replace(/^task[-_ ]+/, '');
}

function namedTask(id: string, after: string, bold: boolean): TaskHeader | null {
  const [, closed = '', remark = '', separator = '', reopened = '', rest = ''] = SEPARATOR.exec(after) ?? [];
  if (
    separator === '' &&
    /^(?:depends|requires|blocks|needs|must|is|are|and|to|through|or)\b|^[→+&]/i.test(rest)
  ) {
    return null;
  }
  const set = separator !== '' || (bold && closed.startsWith('**') && rest !== '');
  return {
    id,
    rest: `${reopened}${rest}${remark === '' ? '' : ` ${remark}`}`.trim(),
    named: true,
    strong: set,
  };
}

function read(pattern: RegExp, text: string): PhaseHeader | null {
  const match = pattern.exec(bare(text));
  return match === null ? null : { id: match[1] ?? '', rest: match[2] ?? '' };
}

/** Without emoji, numbering of the outline and bold marks before the first word. */
function bare(text: string): string {
  return text.replace(/^[^\x21-\x7E]*\**[^\x21-\x7E]*/, '');
}
