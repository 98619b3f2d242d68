import { CLIENT_RULES } from './clientRules.ts';
import { ESCAPES, STOP } from './escape.ts';
import { GUARDS, type GuardName } from './guards.ts';
import type { Outcome } from './outcomes.ts';
import { type ClientRecord, type EscapeRecord, tally } from './record.ts';

const WORDS: Readonly<Record<Outcome, string>> = {
  prevented: 'prevented',
  noticed: 'noticed',
  missed: 'missed',
  nothing: '–',
  untested: 'untested',
};

const SCRIPTS = [...ESCAPES, STOP];

/** One client, for a terminal. */
export function plainTable({ title, version, guards }: ClientRecord): string {
  const width = Math.max(...SCRIPTS.map((script) => script.title.length)) + 2;
  const line = (name: string, cells: readonly string[]) =>
    name.padEnd(width) + cells.map((cell) => cell.padEnd(11)).join('');
  const rows = rowsOf(guards);
  return [
    `${title} ${version}`,
    line(
      '',
      guards.map(({ guard }) => guard),
    ),
    ...rows.map(([name = '', ...cells]) => line(name, cells)),
    '',
  ].join('\n');
}

/** One client, for a page. */
export function markdownTable({ guards }: ClientRecord): string {
  const heads = guards.map(({ guard }) => titleOf(guard));
  return [
    `| | ${heads.join(' | ')} |`,
    `|---|${heads.map(() => '---').join('|')}|`,
    ...rowsOf(guards).map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}

/** All clients in a few rows. */
export function shortTable(record: EscapeRecord): string {
  const rows = GUARDS.map(({ name, title }) => {
    const { prevented, noticed, missed } = tally(record, name);
    const found = record.clients.flatMap(({ guards }) => guards.filter(({ guard }) => guard === name));
    const goesOn = found.every((one) => one.goesOn) ? 'yes' : found.some((one) => one.goesOn) ? 'some' : 'no';
    return `| ${title} | ${[prevented, noticed, missed, goesOn].join(' | ')} |`;
  });
  return [
    '| held by | prevented | noticed | missed | approved work goes on |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** What the rules of a client are called there. */
export function rulesLine({ client, title }: ClientRecord): string {
  const { deny, allow } = CLIENT_RULES[client];
  return `${title}: ${deny?.title ?? 'none'}; ${allow?.title ?? 'none'}`;
}

function rowsOf(guards: ClientRecord['guards']): readonly (readonly string[])[] {
  const none = guards.find(({ guard }) => guard === 'none')?.call ?? Number.NaN;
  return [
    ['honest work passes', ...guards.map(({ control }) => (control === null ? 'yes' : 'no'))],
    ...SCRIPTS.map(({ name, title }) => [
      title,
      ...guards.map(({ outcomes }) => WORDS[outcomes[name] ?? 'untested']),
    ]),
    ['approved work goes on', ...guards.map(({ goesOn }) => (goesOn ? 'yes' : 'no'))],
    [
      'added to an honest call',
      ...guards.map(({ guard, call }) => (guard === 'none' ? '–' : ms(call - none))),
    ],
    [
      'an edit that is refused takes',
      ...guards.map(({ refusedEdit }) => (refusedEdit === null ? '–' : ms(refusedEdit))),
    ],
  ];
}

function ms(value: number): string {
  return `${Math.max(0, Math.round(value))} ms`;
}

function titleOf(name: GuardName): string {
  return GUARDS.find((guard) => guard.name === name)?.title ?? name;
}
