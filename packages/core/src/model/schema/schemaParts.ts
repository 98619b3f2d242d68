import type { JsonObject } from '../../json.ts';
import type { Check } from './schemaPass.ts';

/** A schema with the checks already made of the schemas inside it. */
export interface SchemaParts {
  readonly schema: JsonObject;
  /** The check made of the schema under a keyword, or null without one. */
  one(keyword: string): Check | null;
  /** The checks made of a list of schemas, or of a map of them, by key. */
  many(keyword: string): ReadonlyMap<string, Check>;
}
