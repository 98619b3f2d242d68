import type { JsonObject } from '@phasegate/core';
import { describeJson } from './describeJson.ts';

/** The gate card on a screen: the whole of it, because its hash is what the human signs. */
export function cardText(card: JsonObject): string {
  return `${describeJson(card).trimStart()}\n`;
}
