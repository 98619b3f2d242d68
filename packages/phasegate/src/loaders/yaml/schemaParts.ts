import * as z from 'zod';

/** A part with its description. */
export const about = <T extends z.ZodType>(schema: T, description: string): T => schema.meta({ description });
/** A key that may be left out; `preset` is what it means then, told to editors and readers, never filled in here. */
export const maybe = (schema: z.ZodType, description: string, preset?: string | number | boolean) =>
  schema.optional().meta({ description, ...(preset === undefined ? {} : { default: preset }) });

/** Any text. */
export const text = z.string();
/** A list of texts. */
export const texts = z.array(z.string());
/** The id of a phase. */
export const id = z.union([z.string().min(1), z.number().int().nonnegative()]);
/** Where something leads. */
export const target = z.union([z.string().min(1), z.number().int().nonnegative(), z.null()]);
/** Any map. */
export const anything = z.record(z.string(), z.unknown());
