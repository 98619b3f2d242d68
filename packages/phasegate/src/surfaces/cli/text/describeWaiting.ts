import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { quoteRest } from '@phasegate/core/engine';
import { oneLine, shellWord } from '@phasegate/core/model';
import { describeJson } from './describeJson.ts';
import { foreignLines, foreignRest, SCREEN } from './foreignLines.ts';

/** What a run that is driven waits for: what a human is asked, what they may choose, and how. */
export function describeWaiting(what: JsonObject): string {
  const lines = linesFor(what);
  const more = ['afterwards', 'needs'].flatMap((key) => {
    const said = what[key];
    return typeof said === 'string' ? [key === 'afterwards' ? `afterwards: ${said}` : said] : [];
  });
  return ['', ...lines, ...more, ''].join('\n');
}

function linesFor(what: JsonObject): readonly string[] {
  switch (what.for) {
    case 'gate':
      return gateLines(what);
    case 'questions':
      return ['a human must answer:', ...list(what.questions).flatMap(questionLines)];
    case 'escalation':
      return escalationLines(what);
    default:
      return [describeJson(what).trimStart()];
  }
}

function gateLines(what: JsonObject): readonly string[] {
  const context = isJsonObject(what.context) ? what.context : {};
  const votes = list(what.votes).map((vote) => `${word(vote, 'by')} chose ${word(vote, 'option')}`);
  const approvers = list(what.approvers).join(', ');
  return [
    `a human must decide at gate \`${word(what, 'gate')}\`: ${word(what, 'prompt')}`,
    ...(Object.keys(context).length === 0 ? [] : foreignLines(describeJson(context).trimStart(), SCREEN)),
    ...votes,
    ...(typeof what.quorum === 'number' && what.quorum > 1
      ? [`${what.quorum} humans must choose the same`]
      : []),
    ...(approvers === '' ? [] : [`for ${approvers}`]),
    ...(typeof what.expires_at === 'string' ? [`until ${what.expires_at}`] : []),
    ...list(what.options).map((option) => `- ${word(option, 'label')}`),
    // Not the line that names an option and a hash: pasted, it would sign a card that is not on this screen.
    `see all of it and decide: phasegate decide ${shellWord(word(what, 'run'))}`,
  ];
}

function questionLines(question: Json): readonly string[] {
  const answered = own(question, 'answered') === true;
  const before = `${word(question, 'number')}.${answered ? ' (answered)' : ''} `;
  const lines = [said(own(question, 'text'), before)];
  if (answered) return lines;
  const options = list(own(question, 'options')).map((option) => said(option, '   - '));
  return [...lines, ...options, `   ${word(question, 'how')}`];
}

function escalationLines(what: JsonObject): readonly string[] {
  const { blockers, items, printed_last: printed, how, attempts, message } = what;
  const told = list(blockers).map((blocker) => own(blocker, 'message'));
  return [
    said(message, 'a human must act: '),
    `phase ${word(what, 'phase')}, since ${word(what, 'since')}, failed attempts: ${word(attempts)}`,
    ...told.filter((text) => text !== message).map((text) => said(text, '- ')),
    ...list(items).flatMap((item) => [
      said(own(item, 'error'), `- item ${oneLine(word(item, 'item'))} is ${word(item, 'status')}: `),
      ...lastPrinted(own(item, 'printed_last')),
    ]),
    ...lastPrinted(printed),
    ...list(how).map((way) => `- ${word(way)}`),
  ];
}

function lastPrinted(printed: Json | undefined): readonly string[] {
  const lines = list(printed).filter((line) => line !== '');
  return lines.length === 0 ? [] : ['  what it printed last:', ...lines.map((line) => said(line, '    '))];
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Words of somebody else, behind what stands on their line already. */
function said(value: Json | undefined, before: string): string {
  const text = typeof value === 'string' ? value : word(value);
  return foreignRest(text, { before, width: SCREEN });
}

/** A member, or the value itself, in words. */
function word(value: Json | undefined, key?: string): string {
  const found = key === undefined ? value : own(value, key);
  if (found === undefined || found === null) return 'none';
  return typeof found === 'string' ? quoteRest(found) : describeJson(found);
}
