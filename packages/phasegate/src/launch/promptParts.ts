import type { RunView } from '@phasegate/core';
import { fencedJson } from '@phasegate/core/model';

/** Parts of a prompt with an empty line between them; empty ones are left out. */
export function joined(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** What the current phase has to be completed with; empty where it asks for nothing. */
export function criteriaPart(view: RunView): string {
  const criteria = view.current?.criteria ?? {};
  return Object.keys(criteria).length === 0
    ? ''
    : `## What the engine will ask for\n\n${fencedJson(criteria)}`;
}
