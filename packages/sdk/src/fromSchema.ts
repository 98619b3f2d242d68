import type { Dynamic } from './stepContext.ts';

/**
 * The type of the values a JSON Schema describes, where it is written as a literal and says so plainly: by `type`,
 * `properties`, `required`, `items`, `enum` and `const`. Of any other schema nothing is known.
 */
export type FromSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: infer Kind }
      ? OfKind<Kind, S>
      : Dynamic;

type OfKind<Kind, S> = string extends Kind
  ? Dynamic
  : Kind extends readonly (infer One)[]
    ? OfKind<One, S>
    : Kind extends keyof Simple
      ? Simple[Kind]
      : Kind extends 'array'
        ? readonly (S extends { readonly items: infer Items } ? FromSchema<Items> : Dynamic)[]
        : Kind extends 'object'
          ? OfObject<S>
          : Dynamic;

interface Simple {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type OfObject<S> = S extends { readonly properties: infer Properties }
  ? {
      readonly [N in keyof Properties as N extends RequiredOf<S> ? N : never]: FromSchema<Properties[N]>;
    } & {
      readonly [N in keyof Properties as N extends RequiredOf<S> ? never : N]?: FromSchema<Properties[N]>;
    }
  : Readonly<Record<string, Dynamic>>;

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;
