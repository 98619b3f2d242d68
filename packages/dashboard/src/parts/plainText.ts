import { replaceUnseen } from '@phasegate/core/model';

/**
 * Somebody else's text as it can be shown: what a terminal obeys, what turns the direction of reading and what has no
 * width becomes a sign that can be seen. Line breaks and tabs stay.
 */
export function plainText(text: string): string {
  return replaceUnseen(text, (character, offset) => {
    if (character === '\n' || character === '\t') return character;
    if (character === '\r' && text[offset + 1] === '\n') return '';
    return `‹${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`;
  });
}

/** As much of a text as is shown at once, and how much that leaves. */
export function cutText(text: string, most: number): { readonly shown: string; readonly left: number } {
  if (text.length <= most) return { shown: text, left: 0 };
  return { shown: text.slice(0, most), left: text.length - most };
}
