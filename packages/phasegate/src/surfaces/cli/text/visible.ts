import { replaceUnseen, unseenAsJson } from '@phasegate/core/model';

/**
 * The text with everything visible that a terminal would obey or not show: what an agent wrote must not repaint the
 * screen on which a human decides. Line breaks and tabs stay, and our own colours, which are known by their mark.
 */
export function visible(text: string, mark: string | null): string {
  const end = mark === null ? null : `;${mark}m`;
  return replaceUnseen(text, (character, offset) => {
    if (character === '\n' || character === '\t') return character;
    if (character === '\r' && text[offset + 1] === '\n') return character;
    if (end !== null && character === '\u001b' && isOurs(text, offset, end)) return character;
    return escapeOf(character);
  }).replaceAll(end ?? '\u0000', 'm');
}

/** JSON text with what JSON.stringify leaves bare escaped; the value stays the same. */
export function visibleJson(json: string): string {
  return unseenAsJson(json);
}

function isOurs(text: string, offset: number, end: string): boolean {
  const code = /^\[\d{1,2}/.exec(text.slice(offset + 1, offset + 4))?.[0];
  return code !== undefined && text.startsWith(end, offset + 1 + code.length);
}

function escapeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point > 0xffff ? `\\u{${point.toString(16)}}` : `\\u${point.toString(16).padStart(4, '0')}`;
}
