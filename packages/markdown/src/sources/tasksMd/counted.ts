/** `1 task`, `2 tasks`, `3 checkboxes`. */
export function counted(number: number, noun: string): string {
  if (number === 1) return `1 ${noun}`;
  return `${number} ${noun}${noun.endsWith('x') ? 'es' : 's'}`;
}
