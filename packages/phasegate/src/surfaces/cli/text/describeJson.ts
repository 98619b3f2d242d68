import type { Json } from '@phasegate/core';
import { linesOf, oneLine } from '@phasegate/core/model';

// Lines of a text are indented under its key, and a key has one line: no value can pass for a line of its own.
/** A JSON value for a human's eyes: all of it. */
export function describeJson(value: Json, indent = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '(none)';
    return value
      .map((item: Json) => `\n${indent}- ${describeJson(item, `${indent}  `).trimStart()}`)
      .join('');
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return '(none)';
    return entries
      .map(([key, member]) => {
        const text = describeJson(member as Json, `${indent}  `);
        return `\n${indent}${oneLine(key)}:${text.startsWith('\n') ? text : ` ${text}`}`;
      })
      .join('');
  }
  return typeof value === 'string' ? linesOf(value).join(`\n${indent}`) : String(value);
}
