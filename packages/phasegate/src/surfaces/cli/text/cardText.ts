import { canonicalJson, isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { goalPrincipal } from '@phasegate/core/engine';
import { oneLine } from '@phasegate/core/model';
import { decodeGoal } from '@phasegate/wire';
import { movedLines, settledLines } from './cardChanges.ts';
import { diffLines } from './cardDiff.ts';
import { type CardPage, type CardScreen, pageFor, short, word } from './cardPage.ts';
import { type CardWork, changeLines, nothingSeen, receiptText, refusedLines, takeWork } from './cardWork.ts';
import { heldClass } from './heldClass.ts';

const LEGEND =
  'Lines that begin with | are words of others: of an agent, of a person, or what a program printed.';

/**
 * The gate card as a page to judge by: what is to be done, what the engine saw, what is only claimed, what to beware of,
 * what was decided before, and the question. All of the card is on it, because its hash is what the human signs.
 */
export function cardText(card: JsonObject, screen: CardScreen): string {
  const page = pageFor(card, screen);
  const checks = page.list('checks');
  const work = takeWork(page);
  const sections = [
    head(page),
    aim(page),
    context(page),
    seen(page, checks.filter(looksItself), { card, work }),
    diffLines(page),
    claimed(
      page,
      checks.filter((check) => !looksItself(check)),
    ),
    before(page),
    warnings(page, work),
    question(page),
    details(page),
  ];
  const told = sections.filter((lines) => lines.length > 0);
  return `${told.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function head(page: CardPage): readonly string[] {
  const { paint } = page.screen;
  const [run, gate, workflow] = [page.take('run'), page.take('gate'), page.take('workflow')];
  const folder = page.take('folder');
  const source = own(page.card, 'source');
  const where = `workflow ${word(workflow)}, phase ${word(page.take('phase'))}`;
  return [
    ...page.heading(`Gate ${word(gate)} of run ${word(run)}`),
    ...page.line(`${where}, open since ${word(page.take('opened_at'))}`),
    ...(folder === undefined ? [] : page.line(`the run works in the folder ${word(folder)}`)),
    ...(source === undefined
      ? []
      : page.line(`its phases were made from the file ${word(own(source, 'path'))}`)),
    ...page.line(LEGEND).map(paint.dim),
  ];
}

/** Whose words the goal is stands on a line of ours; the words do not. */
function aim(page: CardPage): readonly string[] {
  const goal = page.take('goal');
  const target = page.take('target') ?? null;
  const { goal: told } = decodeGoal(
    goal === undefined ? {} : { goal: String(own(goal, 'text')), goal_by: String(own(goal, 'by')) },
  );
  return [
    ...(told === undefined
      ? page.line('no goal was given')
      : [...page.heading(`Goal, ${goalPrincipal(told)}`), ...page.said(told.text)]),
    ...(target === null ? [] : [...page.heading('Target'), ...page.said(target)]),
  ];
}

/** What the author of the workflow wants shown here, and what a yes approves beside the evidence. */
function context(page: CardPage): readonly string[] {
  const [shown, covered] = [page.take('context') ?? {}, page.take('covered') ?? {}];
  const same = canonicalJson(shown) === canonicalJson(covered);
  return [
    ...page.heading('What the workflow shows here'),
    ...(isEmpty(shown) ? page.line('nothing') : page.said(shown)),
    ...(same || isEmpty(covered) ? [] : [...page.line('a yes approves as well:'), ...page.said(covered)]),
  ];
}

/** A check that looks at the world, and not at what was handed in. */
function looksItself(check: Json): boolean {
  return own(check, 'looks') === true || own(check, 'needs') !== 'claimed';
}

function seen(
  page: CardPage,
  checks: readonly Json[],
  { card, work }: { readonly card: JsonObject; readonly work: CardWork },
): readonly string[] {
  const permissive = own(card, 'mode') === 'permissive';
  const { paint, utf8 } = page.screen;
  const tick = utf8 === false ? '+' : '✓';
  const looked = checks.map((check) => {
    const held = heldClass(card, check);
    const how = held.lack === null ? held.class : `${held.class}, not verified: ${oneLine(held.lack)}`;
    const when = `looked at ${word(own(check, 'looked_at'))}`;
    const name = word(own(check, 'check'));
    // Only what had to hold for the gate to open has held.
    if (own(check, 'warns') === true) return `- ${name} (only warns, ${when}; see the warnings)`;
    return permissive ? `- ${name} (${when}; see the warnings)` : `${tick} ${name} (${how}, ${when})`;
  });
  const receipts = receiptText(work);
  const told = [...looked, ...(receipts === null ? [] : [`${tick} ${receipts}`])];
  const items = page.take('items_looked_at');
  return [
    ...page.heading('What the engine saw for itself').map(paint.green),
    ...(told.length === 0 ? page.line(nothingSeen(work)) : told.flatMap(page.line)),
    ...(items === undefined ? [] : [...page.line('when each item was looked at:'), ...page.said(items)]),
    ...changeLines(page, work, word(own(card, 'run'))),
  ];
}

function claimed(page: CardPage, checks: readonly Json[]): readonly string[] {
  const { paint } = page.screen;
  const outcome = page.take('outcome');
  const handedIn = HANDED_IN.flatMap(([key, title]) => {
    const value = page.take(key);
    if (value === undefined || isEmpty(value)) return key === 'evidence' ? page.line('evidence: none') : [];
    return [...page.line(`${title}:`), ...page.said(value)];
  });
  return [
    ...page
      .heading(`What is only claimed, by agent ${word(page.take('submitted_by'))}, outcome ${word(outcome)}`)
      .map(paint.yellow),
    ...handedIn,
    ...(checks.length === 0 ? [] : page.line('checks that read what was handed in, and nothing else:')),
    ...checks.flatMap((check) => page.line(`- ${word(own(check, 'check'))}`)),
  ];
}

/** What an agent hands in, and what it is called here. */
const HANDED_IN = [
  ['evidence', 'evidence'],
  ['word', "the agent's own words beside it"],
  ['outcomes', 'items whose outcome is not ok'],
  ['state', 'values that later phases read'],
] as const;

function before(page: CardPage): readonly string[] {
  const decided = page.list('decisions');
  const path = page
    .list('path')
    .map((one) => `- phase ${word(own(one, 'phase'))}: ${endingOf(one, decided)}, ${word(own(one, 'at'))}`);
  const decisions = decided.map(
    (one) => `- gate ${word(own(one, 'gate'))}: ${word(own(one, 'option'))}, ${byAndAt(one)}`,
  );
  const approved = page.take('approved');
  return [
    ...page.heading('Earlier in this run'),
    ...(decisions.length === 0 ? page.line('no human has decided yet') : []),
    ...[...path, ...decisions].flatMap(page.line),
    ...(approved === undefined ? [] : [...page.line('what humans approved:'), ...page.said(approved)]),
  ];
}

function byAndAt(one: Json): string {
  return `by ${word(own(one, 'by'))}, ${word(own(one, 'at'))}`;
}

/** How a phase ended and by whom: an agent hands in, and a human rejects, at the moment of their decision. */
function endingOf(one: Json, decided: readonly Json[]): string {
  const [outcome, by] = [word(own(one, 'outcome')), word(own(one, 'by'))];
  if (own(one, 'outcome') === 'overridden') return `OVERRIDDEN by ${by}, not completed`;
  if (own(one, 'outcome') === 'expired') return `handed in by ${by}, nobody decided in time`;
  if (own(one, 'outcome') !== 'rejected') return `${outcome}, by ${by}`;
  const decision = decided.find((candidate) => own(candidate, 'at') === own(one, 'at'));
  const who = decision === undefined ? '' : ` by ${word(own(decision, 'by'))}`;
  return `handed in by ${by}, rejected${who}`;
}

function warnings(page: CardPage, work: CardWork): readonly string[] {
  const { paint, notes = [] } = page.screen;
  const [mode, trusted] = [page.take('mode'), page.take('trusted')];
  const lines = [
    ...(trusted === false ? page.line('! no human has accepted this workflow') : []),
    ...(mode === 'permissive'
      ? page.line('! permissive mode: nothing is blocked, what would be refused is let through')
      : []),
    ...notes.flatMap((note) => page.line(`! ${note}`)),
    ...told(page, 'overrides', '! phases that a human led the run past, and nobody completed:'),
    ...told(page, 'would_refuse', '! let through, and refused in strict mode:'),
    ...told(page, 'warnings', '! checks that warned:'),
    ...movedLines(page, work.moved),
    ...settledLines(page),
    ...refusedLines(page, work),
    ...told(page, 'stopped_before', '! runs on the same target that were stopped:'),
  ];
  if (lines.length === 0) return [...page.heading('Warnings'), ...page.line('none')];
  const marked = lines.map((line) => (line.startsWith('! ') ? paint.red(line) : line));
  return [...page.heading('Warnings').map(paint.red), ...marked];
}

function told(page: CardPage, key: string, title: string): readonly string[] {
  const list = page.list(key);
  return list.length === 0 ? [] : [...page.line(title), ...list.flatMap((one) => page.said(inWords(one)))];
}

/** The values of a small object, one behind the other. */
function inWords(value: Json): string {
  if (!isJsonObject(value)) return String(value);
  return Object.entries(value)
    .map(([key, one]) => (key === 'message' || key === 'reason' ? String(one) : `${key} ${String(one)}`))
    .join(', ');
}

function question(page: CardPage): readonly string[] {
  const options = page.list('options').flatMap((option) => {
    const approves = own(option, 'approves');
    const means = approves === true ? ', approves' : approves === false ? ', does not approve' : '';
    const needs = own(option, 'requires_input') === true ? ', needs a text' : '';
    const leads = own(option, 'leads_to');
    const way = word(own(option, 'way') ?? (leads === undefined ? undefined : `leads to ${word(leads)}`));
    const label = word(own(option, 'label'));
    if (OUR_WAY.test(way)) return page.line(`- ${label}: ${way}${means}${needs}`);
    return [...page.line(`- ${label}${means}${needs}, and leads to:`), ...page.said(way)];
  });
  return [
    ...page.heading('To decide'),
    ...page.line(`prompt: ${word(page.take('prompt'))}`),
    ...options,
    ...whoDecides(page),
  ];
}

function whoDecides(page: CardPage): readonly string[] {
  const [approvers, quorum] = [page.list('approvers'), page.take('quorum')];
  const workers = page.list('own_work').map((one) => `${word(own(one, 'name'))} ${word(own(one, 'why'))}`);
  return [
    ...(approvers.length === 0 ? [] : page.line(`for ${approvers.map(word).join(', ')}`)),
    ...(quorum === undefined ? [] : page.line(`${word(quorum)} humans must choose the same`)),
    ...workers.flatMap((who) => page.line(`! ${who}, so that human's yes does not count`)),
  ];
}

/** A way without the name of a phase, which may be words of an agent's. */
const OUR_WAY = /^[\w `'.-]*$/;

/** What is seldom asked, and the hashes, short: the JSON has all of them. */
function details(page: CardPage): readonly string[] {
  const { paint, shown } = page.screen;
  const started = page.take('started');
  const [ring, epoch, workflow] = [page.take('ring'), page.take('epoch'), page.take('workflow_hash')];
  const params = page.take('params');
  const [source, database] = [page.take('source'), page.take('database')];
  const others = page
    .others()
    .flatMap(([key, value]) => [...page.line(`${word(key)}:`), ...page.said(value)]);
  const hashes = [
    ...(workflow === undefined ? [] : [`workflow ${short(workflow)}`]),
    ...(source === undefined ? [] : [`that file ${short(own(source, 'hash'))}`]),
    ...(database === undefined ? [] : [`the workflow's database as handed in ${short(database)}`]),
    ...(shown === undefined ? [] : [`this card ${short(shown)}`]),
  ];
  return [
    ...(params === undefined
      ? []
      : [...page.line('params that differ from their defaults:'), ...page.said(params)]),
    ...others,
    ...page
      .line(
        `run started ${started === undefined ? 'by unknown' : byAndAt(started)}; ring ${word(ring)}, epoch ${word(epoch)}`,
      )
      .map(paint.dim),
    ...(hashes.length === 0 ? [] : page.line(`hashes: ${hashes.join(', ')}`).map(paint.dim)),
  ];
}

function isEmpty(value: Json): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
