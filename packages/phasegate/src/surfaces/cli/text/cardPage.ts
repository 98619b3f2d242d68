import type { Json, JsonObject } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { Paint } from '../paint.ts';
import { othersInAscii } from './ascii.ts';
import { describeJson } from './describeJson.ts';
import { foreignLines } from './foreignLines.ts';
import { wrapped } from './wrapped.ts';

/** How and beside what a card is shown. */
export interface CardScreen {
  /** Columns. */
  readonly width: number;
  readonly paint: Paint;
  /** False where the terminal shows ASCII only. */
  readonly utf8?: boolean;
  /** The card's hash. */
  readonly shown?: string;
  /** What is known now and was not when the gate opened: shown, and not part of what is signed. */
  readonly notes?: readonly string[];
}

/** What of a card is still to be shown, and how its lines are made. */
export interface CardPage {
  readonly card: JsonObject;
  readonly screen: CardScreen;
  /** A part of the card: the one who takes it shows it. */
  take(key: string): Json | undefined;
  list(key: string): readonly Json[];
  /** What nobody took. */
  others(): readonly (readonly [string, Json])[];
  /** A line of ours, broken between words. */
  line(text: string): readonly string[];
  heading(text: string): readonly string[];
  /** Words of others, each line behind its mark. */
  said(value: Json): readonly string[];
}

/** A page for one card. */
export function pageFor(card: JsonObject, screen: CardScreen): CardPage {
  const { width, paint, utf8 } = screen;
  const left = new Map(Object.entries(card));
  const written = (text: string) => (utf8 === false ? othersInAscii(text) : text);
  const line = (text: string) => wrapped(written(text), width, '  ');
  const take = (key: string) => {
    const value = left.get(key);
    left.delete(key);
    return value;
  };
  return {
    card,
    screen,
    take,
    list(key) {
      const value = take(key);
      return Array.isArray(value) ? value : [];
    },
    others: () => [...left],
    line,
    heading: (text) => line(text).map(paint.bold),
    said(value) {
      const text = typeof value === 'string' ? value : describeJson(value).trimStart();
      return foreignLines(written(text), width);
    },
  };
}

/** A short value on a line of ours. */
export function word(value: Json | undefined): string {
  if (value === undefined || value === null) return 'none';
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

/** A hash as far as a human compares it. */
export function short(hash: Json | undefined): string {
  return word(hash).slice(0, SHOWN_DIGITS);
}

const SHOWN_DIGITS = 12;
