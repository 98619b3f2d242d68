/** Where a text stops being JSON, and why; null for JSON. */
export function jsonFault(text: string): { readonly offset: number; readonly message: string } | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const position = /position (\d+)/.exec(message)?.[1];
    const plain = message
      .replace(/,? ?(?:in JSON )?at position.*$/s, '')
      .replace(/, (?:\.{3})?"[\s\S]*is not valid JSON$/, '');
    return {
      offset: position === undefined ? wrongSign(text) : Number(position),
      message: plain.charAt(0).toLowerCase() + plain.slice(1),
    };
  }
}

/** The offset of the first sign that cannot stand where it does, for which the parser gives no place; else the end. */
function wrongSign(text: string): number {
  let [right, wrong] = [0, text.trimEnd().length + 1];
  while (wrong - right > 1) {
    const middle = Math.floor((right + wrong) / 2);
    if (hasWrongSign(text.slice(0, middle))) wrong = middle;
    else right = middle;
  }
  return wrong - 1;
}

function hasWrongSign(start: string): boolean {
  try {
    JSON.parse(start);
    return false;
  } catch (error) {
    return error instanceof Error && error.message.startsWith('Unexpected token');
  }
}
