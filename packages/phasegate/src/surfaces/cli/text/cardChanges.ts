import { type Json, own } from '@phasegate/core';
import { changeText, type TreeChange } from '@phasegate/core/engine';
import { type CardPage, short, word } from './cardPage.ts';

/** What is not as it was when the gate opened: no check has looked at it. */
export function movedLines(page: CardPage, moved: readonly Json[]): readonly string[] {
  if (moved.length === 0) return [];
  const told = moved.map((one) => {
    const content = own(one, 'content') ?? null;
    const hash = content === null ? '' : `, content ${short(content)}`;
    const change = { ...(one as unknown as TreeChange), path: word(own(one, 'path')) };
    return `${changeText(change)}${hash}`;
  });
  return [
    ...page.line('! changed in the workspace after the gate opened, so no check has looked at it:'),
    ...page.said(told.join('\n')),
  ];
}

/** What humans did about changes outside the scope of a phase. */
export function settledLines(page: CardPage): readonly string[] {
  const acts = page.list('fence');
  if (acts.length === 0) return [];
  const told = acts.map((act) => {
    const paths = own(act, 'paths');
    const names = Array.isArray(paths) ? paths.map(word).join(', ') : word(paths);
    const action = String(own(act, 'action'));
    const reason = String(own(act, 'reason') ?? '');
    const why = reason.trim() === '' ? '' : `: ${word(reason)}`;
    const who = `by ${word(own(act, 'by'))}, ${word(own(act, 'at'))}`;
    return `${names} ${own(DONE, action) ?? action} in phase ${word(own(act, 'phase'))}, ${who}${why}`;
  });
  return [
    ...page.line('! changes outside the scope of a phase that a human settled:'),
    ...page.said(told.join('\n')),
  ];
}

const DONE: Readonly<Record<string, string>> = {
  accept: 'accepted',
  restore: 'restored',
  quarantine: 'moved out of the workspace',
};
