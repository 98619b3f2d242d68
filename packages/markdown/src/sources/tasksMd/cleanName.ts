import type { SourceStatus } from '@phasegate/core/ports';

/** A name without what authors hang on it. */
export interface CleanName {
  readonly name: string;
  readonly status: SourceStatus | null;
  /** Durations and times of the header, in its words. */
  readonly duration: string;
  /** Further remarks taken off the name: requirement ids, priorities, marks. */
  readonly remarks: readonly string[];
}

// What is longer is a paragraph in the wrong place; and nobody hangs more than this on a name.
const LONGEST_NAME = 400;
const MOST_REMARKS = 8;

const UNIT = '(?:hours?|hrs?|h|days?|weeks?|wks?|minutes?|mins?|months?|sprints?)';
const DURATION = new RegExp(String.raw`\d\s*[-–]?\s*${UNIT}\b|\b${UNIT}\s+\d|\bhalf[ -]?(?:a )?day\b`, 'i');
const TRAILING_DURATION = new RegExp(
  String.raw`\s(?:[-–—|]|[^\x00-\x7F–—]{1,4})\s*\**(~?\d[\d.]*\s*(?:(?:[-–]|to)\s*\d[\d.]*\s*)?${UNIT})\**$`,
  'i',
);
const TRAILING_CLOCK =
  /\s[-–—|@]\s*(\d{1,2}:\d{2}(?:\s*[AP]M)?\s*(?:[-–—]|to)\s*\d{1,2}:\d{2}(?:\s*[AP]M)?)$/i;
const TRAILING_GROUP = /(?:\(([^()]*)\)|\[([^[\]]*)\])$/;
const TRAILING_BOLD = /\s\*\*([^*]{2,40})\*\*$/;
const TRAILING_MARK =
  /\s(?:[-–—:|]\s*)?((?:\p{Extended_Pictographic}\uFE0F?)+)\s*([^\p{Extended_Pictographic}]{0,40})$/u;
const TRAILING_WORD = /\s[-–—|]\s*([A-Z][A-Z -]{3,25})$/;
const REQUIREMENT = /^(?:FR|NFR|REQ|R|US|AC|BR|SR|TR)[- ]?\d/;
const TAG = /^\[(P|US\d+|x)\]\s*/i;

/** Takes status, durations and remarks off a phase's or task's name. */
export function cleanName(raw: string): CleanName {
  const found: Found = { status: null, durations: [], remarks: [] };
  let text = strip(stripLead(raw, found));
  if (text.length > LONGEST_NAME) return { name: text, status: null, duration: '', remarks: [] };
  for (let turn = 0; turn < MOST_REMARKS; turn++) {
    const rest = takeTail(text, found);
    if (rest === null) break;
    text = strip(rest);
  }
  const name = strip(text.replace(/\*\*/g, '').replace(/\s{2,}/g, ' '));
  return {
    name: name === '' ? strip(raw.replace(/\*\*/g, '')) : name,
    status: found.status,
    duration: found.durations.join(', '),
    remarks: found.remarks,
  };
}

/** What words about progress mean; null when they are about something else. */
export function statusOf(text: string): SourceStatus | null {
  const words = text.replace(/[^A-Za-z ]+/g, ' ').trim();
  if (/^(?:not[ -]?started|pending|to ?do|planned|required|open|ready)\b/i.test(words)) return 'pending';
  if (/^(?:completed?|done|finished|passed|implemented|shipped)\b/i.test(words)) return 'completed';
  if (/^(?:in progress|wip|started|ongoing|partial(?:ly)?)\b/i.test(words)) return 'in_progress';
  if (/^blocked\b/i.test(words)) return 'blocked';
  if (/^(?:deferred|postponed|future|later)\b/i.test(words)) return 'deferred';
  if (/^(?:skipped|cancell?ed|removed|obsolete|superseded)\b/i.test(words)) return 'skipped';
  return words === '' && /[✅✔☑]/u.test(text) ? 'completed' : null;
}

/** The same for a mark on a name, where only words count that are hardly ever part of one. */
function markOf(text: string): SourceStatus | null {
  const words = text.replace(/[^A-Za-z ]+/g, ' ').trim();
  const sure =
    /^(?:not[ -]?started|pending|to ?do|required|completed?|done|finished|passed|implemented|in progress|wip|blocked|deferred|postponed|skipped|cancell?ed|removed|obsolete)\b/i;
  return words === '' || sure.test(words) ? statusOf(text) : null;
}

interface Found {
  status: SourceStatus | null;
  readonly durations: string[];
  readonly remarks: string[];
}

function stripLead(raw: string, found: Found): string {
  let text = raw.trim();
  // A heading that is bold as a whole ends in marks whose other half stood before the id.
  if (text.endsWith('**') && text.split('**').length % 2 === 0) text = text.slice(0, -2).trim();
  for (let tag = TAG.exec(text); tag !== null; tag = TAG.exec(text)) {
    found.remarks.push(tag[0].trim());
    text = text.slice(tag[0].length);
  }
  const emphasis = /^\*\*([A-Z][A-Z ]{2,20})\*\*\s*[-–—:]\s*(?=\S)/.exec(text);
  if (emphasis !== null) {
    found.remarks.push(emphasis[1] ?? '');
    text = text.slice(emphasis[0].length);
  }
  const mark = /^((?:\p{Extended_Pictographic}\uFE0F?\u200D?)+)\s*(?=\S)/u.exec(text);
  if (mark === null) return text;
  found.status ??= markOf(mark[1] ?? '');
  return text.slice(mark[0].length);
}

/** The text without its last remark, or null when nothing more can be taken off. */
function takeTail(text: string, found: Found): string | null {
  return takeGroup(text, found) ?? takeTimes(text, found) ?? takeMark(text, found);
}

function takeGroup(text: string, found: Found): string | null {
  const match = TRAILING_GROUP.exec(text);
  if (match === null || match.index === 0) return null;
  const inside = (match[1] ?? match[2] ?? '').trim();
  const status = markOf(inside);
  if (status !== null) {
    found.status ??= status;
    if (/\s\S+\s/.test(inside)) found.remarks.unshift(inside);
  } else if (DURATION.test(inside)) found.durations.unshift(inside.replace(/^[^\x21-\x7E]+/, ''));
  else if (REQUIREMENT.test(inside)) found.remarks.unshift(inside);
  else return null;
  return text.slice(0, match.index);
}

function takeTimes(text: string, found: Found): string | null {
  const match = TRAILING_CLOCK.exec(text) ?? TRAILING_DURATION.exec(text);
  if (match === null) return null;
  found.durations.unshift(match[1] ?? '');
  return text.slice(0, match.index);
}

function takeMark(text: string, found: Found): string | null {
  const bold = TRAILING_BOLD.exec(text);
  if (bold !== null && markOf(bold[1] ?? '') !== null) {
    found.status ??= markOf(bold[1] ?? '');
    return text.slice(0, bold.index);
  }
  const word = TRAILING_WORD.exec(text);
  if (word !== null && markOf(word[1] ?? '') !== null) {
    found.status ??= markOf(word[1] ?? '');
    return text.slice(0, word.index);
  }
  const mark = TRAILING_MARK.exec(text);
  if (mark === null) return null;
  const words = (mark[2] ?? '').replace(/\*\*/g, '').trim();
  const status = markOf(words === '' ? (mark[1] ?? '') : words);
  // Words after an emoji are a mark when they are shouted or speak of progress; else they belong to the name.
  if (status === null && words !== '' && words !== words.toUpperCase()) return null;
  found.status ??= status;
  if (status !== 'completed' || words.length > 10) found.remarks.unshift(`${mark[1] ?? ''} ${words}`.trim());
  return text.slice(0, mark.index);
}

function strip(text: string): string {
  return text
    .trim()
    .replace(/(?:[-–—:|]|~~)+$/, '')
    .trim();
}
