/** Where a text stops being JSON, and why; null for JSON. */
export function jsonFault(text: string): { readonly offset: number; readonly message: string } | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const position = /position (\d+)/.exec(message)?.[1];
    const plain = message.replace(/,? ?(?:in JSON )?at position.*$/s, '').replace(/, "?\.{3}[\s\S]*$/, '');
    return {
      offset: position === undefined ? text.trimEnd().length : Number(position),
      message: plain.charAt(0).toLowerCase() + plain.slice(1),
    };
  }
}
