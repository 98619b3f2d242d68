// Line breaks and tabs stay; every other control character, and those that turn the direction of text, would let
// what an agent wrote repaint the screen on which a human decides.
const UNSEEN = /\r(?!\n)|[^\P{Cc}\r\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const UNSEEN_IN_JSON = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
// The codes `paint.ts` uses; nothing else may reach a terminal.
const COLOUR = /^\[(?:0|1|2|22|31|32|33|36|39)m/;

/** The text with everything a terminal would obey made visible; our own colours stay where they are in use. */
export function visible(text: string, colours: boolean): string {
  return text.replace(UNSEEN, (character, offset: number) => {
    if (colours && character === '\u001b' && COLOUR.test(text.slice(offset + 1, offset + 5)))
      return character;
    return escapeOf(character);
  });
}

/** JSON text with what JSON.stringify leaves bare (DEL, C1, direction marks) escaped; the value stays the same. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN_IN_JSON, (character) => (character === '\n' ? character : escapeOf(character)));
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
