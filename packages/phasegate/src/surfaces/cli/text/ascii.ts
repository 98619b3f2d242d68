import type { Environment } from '../environment.ts';

/** Whether a terminal of this locale shows more than ASCII. One that says nothing is taken to: most do. */
export function showsUnicode({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return locale === '' || /utf-?8/i.test(locale);
}

/** The text in ASCII: our own signs as one would type them, and what others wrote by its number. */
export function inAscii(text: string): string {
  return text.replaceAll(NOT_ASCII, (sign) => TYPED[sign] ?? byNumber(sign));
}

/** Words of others in ASCII. No sign of theirs becomes one of ours, which say that something was seen to hold. */
export function othersInAscii(text: string): string {
  return text.replaceAll(NOT_ASCII, byNumber);
}

function byNumber(sign: string): string {
  return `\\u{${sign.codePointAt(0)?.toString(16)}}`;
}

/** JSON text in ASCII; the value stays the same. */
export function jsonInAscii(json: string): string {
  return json.replaceAll(UNIT, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const NOT_ASCII = /[\u0080-\u{10ffff}]/gu;
const UNIT = /[\u0080-\uffff]/g;

const TYPED: Readonly<Record<string, string>> = {
  '…': '...',
  '→': '->',
  '·': '-',
  '–': '-',
  '—': '-',
  '✓': '+',
  '✗': 'x',
  // Bars: what is less than half a sign is still seen.
  '█': '#',
  '▉': '#',
  '▊': '#',
  '▋': '#',
  '▌': '#',
  '▍': '-',
  '▎': '-',
  '▏': '-',
};
