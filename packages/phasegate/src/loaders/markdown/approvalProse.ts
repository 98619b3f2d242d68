import { asideRanges, isWithin } from '@phasegate/core';
import { Lines } from '../lines.ts';
import { headingAt, linesOf } from './markdownText.ts';

const WHO =
  '(?:human|user|person|people|maintainer|reviewer|owner|stakeholder|lead|manager|supervisor|operator|customer|client|team)s?';
const YES = '(?:approval|sign[- ]?off|consent|go[- ]ahead)s?';
/** Words that make an approval something to be had. */
const NEEDED =
  /\b(?:required?|requires|requiring|needs?|needed|must|mandatory|necessary|obtain|get|receive|secure|seek|await|awaits|wait|waits|ask|request|before|only after|until|unless|without)\b/;

const HUMAN_YES = new RegExp(`\\b(?:${WHO}(?:['’]s)?(?: \\w+){0,2} ${YES}|sign[- ]?offs?)\\b`);
const YES_FROM = new RegExp(
  `\\b${YES} (?:\\w+ )?(?:from|by|of) (?:an? |the |your |its |at least |one |two )*${WHO}\\b`,
);
const ASKED = new RegExp(
  `\\b(?:wait|stop|pause|ask|asks|request|present)\\b(?: \\w+){0,6} for (?:\\w+ )?(?:${YES})\\b`,
);
const ACTS = [
  // A human must approve it, and it must be approved by a human.
  new RegExp(
    `\\b${WHO}(?: \\w+)? (?:must|has to|have to|needs? to|shall)(?: \\w+){0,3} (?:approve|sign(?: it)? off)\\b`,
  ),
  new RegExp(
    `\\b(?:must|has to|have to|needs? to|shall) (?:first )?be (?:\\w+ and )?(?:approved|signed off)(?: \\w+)? by (?:an? |the |your )?(?:\\w+ )?${WHO}\\b`,
  ),
];
const NO =
  /\b(?:no|not|never|none|nobody|without|optional|optionally|unneeded|unnecessary|false|n\/a|isn['’]t|aren['’]t|don['’]t|doesn['’]t|needn['’]t|cannot|can['’]t)\b/;
/** Two negations that come to a demand: do not go on without it. */
const FORBIDDEN =
  /\b(?:not|never|no|nobody|nothing|cannot|can['’]t|don['’]t|mustn['’]t)\b.*\b(?:without|until|unless|before)\b/;
/** Tests and documents that are called so, and words about a past or possible one. */
const OTHER =
  /\b(?:approval|sign[- ]?off)s? (?:tests?|testing|snapshots?|flag|field|fields|status|date|docs?|document|documents|template|templates)\b|\b(?:example|e\.g|such as)\b/;

/** Whether a sentence demands that a human approves or signs off. */
export function demandsApproval(sentence: string): boolean {
  const text = sentence
    .replace(/"[^"]*"|“[^”]*”/g, ' ')
    .replace(/[*_#>|`[\]()]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
  if (OTHER.test(text)) return false;
  const spoken = HUMAN_YES.test(text) || YES_FROM.test(text);
  const demanded = (spoken && NEEDED.test(text)) || ASKED.test(text) || ACTS.some((act) => act.test(text));
  if (!demanded) return false;
  return !NO.test(text) || FORBIDDEN.test(text);
}

/** The lines of a text, outside code and comments, that demand a human's approval or sign-off. */
export function approvalLines(text: string): readonly { readonly line: number; readonly sentence: string }[] {
  const asides = asideRanges(text);
  const lines = new Lines(text);
  return linesOf(text).flatMap(({ number, text: line, aside }) => {
    // A row of a table names something; a heading does too, unless it says that it is required.
    if (aside !== null || /^\s*\|.*\|\s*$/.test(line)) return [];
    if (headingAt(line) !== null && !/\brequire[ds]?\b|\bmust\b|\bmandatory\b/i.test(line)) return [];
    const start = lines.start(number);
    const prose = [...line]
      .map((letter, column) => (isWithin(asides, start + column) ? ' ' : letter))
      .join('');
    const found = sentencesOf(prose).find(demandsApproval);
    return found === undefined ? [] : [{ line: number, sentence: found.trim() }];
  });
}

function sentencesOf(line: string): readonly string[] {
  return line.split(/(?<=[.!?;])\s+/);
}
