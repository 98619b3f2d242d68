import type { FromSchema } from './fromSchema.ts';
import type { Checkpoint, ContextFields, Dynamic } from './stepContext.ts';
import type { DatabaseMethods } from './stepDatabase.ts';

/** What a workflow says about itself, as far as its types can tell; `unknown` where it says nothing. */
export interface Declared {
  readonly params: unknown;
  readonly schemas: unknown;
  /** What each helper of the database returns. */
  readonly helpers: unknown;
  /** `requiredEvidence`, `requiredArtifacts` and `args` of each step, by its place. */
  readonly evidence: unknown;
  readonly artifacts: unknown;
  readonly args: unknown;
}

/**
 * The `ctx` of the step at a place: typed by what is declared, and as loose as `StepContext` by what is not. Where
 * params are declared, a name that is neither theirs nor an artifact's does not compile, as it would throw.
 */
export type ContextAt<D extends Declared, Place> = Flat<
  Omit<
    ContextFields,
    'result' | 'artifacts' | 'approved' | 'checkpoint' | 'params' | 'workflow_params' | 'db'
  > & {
    readonly result: ResultAt<D, Place>;
    readonly artifacts: ArtifactsOf<D>;
    // A gate may cover more than steps declare, and the checkpoint holds more: other names stay open.
    readonly approved: ArtifactsOf<D> & Anything;
    readonly checkpoint: Checkpoint & ArtifactsOf<D>;
    readonly params: ParamsAt<D, Place>;
    readonly workflow_params: ParamsAt<D, Place>;
    readonly db: DatabaseOf<D['helpers']>;
  }
> &
  (IsOpen<D['params']> extends true ? Anything : ByOwnName<ParamsAt<D, Place> & RootsAt<D, Place>>);

/** The `ctx` of a gate that steps share: nobody knows whose result it looks at. */
export type SharedContext<D extends Declared> = ContextAt<D, never>;

type Anything = { readonly [name: string]: Dynamic };
type Flat<T> = { readonly [N in keyof T]: T[N] };
type ByOwnName<T> = Flat<Omit<T, keyof ContextFields>>;
type At<List, Place> = [Place] extends [never] ? unknown : Place extends keyof List ? List[Place] : unknown;

/** Whether nothing is known of the names: none given, or not as a literal. */
type IsOpen<T> = unknown extends T ? true : string extends keyof T ? true : false;

/** A step that declares nothing has a free result. */
type ResultAt<D extends Declared, Place> = [NameOf<D, Place>] extends [never]
  ? Dynamic
  : string extends NameOf<D, Place>
    ? Dynamic
    : {
        readonly [N in NameOf<D, Place>]: ValueOf<At<D['evidence'], Place>, At<D['artifacts'], Place>, D, N>;
      };

type NameOf<D extends Declared, Place> =
  | EvidenceName<At<D['evidence'], Place>>
  | ArtifactName<At<D['artifacts'], Place>>;

/** What any step declares, null while nobody has handed it in. */
type ArtifactsOf<D extends Declared> = [AnyName<D>] extends [never]
  ? Readonly<Record<string, Dynamic>>
  : string extends AnyName<D>
    ? Readonly<Record<string, Dynamic>>
    : { readonly [N in AnyName<D>]: AnyValue<D['evidence'], D['artifacts'], D, N> | null };

type AnyName<D extends Declared> = EvidenceNames<D['evidence']> | ArtifactNames<D['artifacts']>;

// Step by step: what is known of one is lost in a union with one of which nothing is.
type EvidenceNames<List> = List extends readonly unknown[]
  ? { readonly [Place in keyof List]: EvidenceName<List[Place]> }[number]
  : never;
type ArtifactNames<List> = List extends readonly unknown[]
  ? { readonly [Place in keyof List]: ArtifactName<List[Place]> }[number]
  : never;
type AnyValue<Es, As, D extends Declared, Name> =
  | (Es extends readonly unknown[]
      ? { readonly [Place in keyof Es]: EvidenceValue<Es[Place], Name> }[number]
      : never)
  | (As extends readonly unknown[]
      ? { readonly [Place in keyof As]: ArtifactValue<As[Place], D['schemas'], Name> }[number]
      : never);

/** The artifacts of the step itself, which are there by their own names while it is judged. */
type RootsAt<D extends Declared, Place> = {
  readonly [N in ArtifactName<At<D['artifacts'], Place>>]: ValueOf<unknown, At<D['artifacts'], Place>, D, N>;
};

type EvidenceName<E> = E extends unknown ? (unknown extends E ? never : Extract<keyof E, string>) : never;

type ArtifactName<A> = A extends readonly (infer One)[]
  ? One extends string
    ? One
    : One extends { readonly type: infer Type extends string }
      ? Type
      : never
  : never;

type ValueOf<E, A, D extends Declared, Name> = EvidenceValue<E, Name> | ArtifactValue<A, D['schemas'], Name>;

type EvidenceValue<E, Name> = E extends unknown
  ? Name extends keyof E
    ? OfEvidence<E[Name]>
    : never
  : never;

type OfEvidence<F> = F extends { readonly type: infer Type }
  ?
      | (Type extends keyof EvidenceTypes ? EvidenceTypes[Type] : Dynamic)
      | (F extends { readonly rule: 'optional' } ? null : never)
  : Dynamic;

interface EvidenceTypes {
  readonly int: number;
  readonly integer: number;
  readonly number: number;
  readonly float: number;
  readonly str: string;
  readonly string: string;
  readonly bool: boolean;
  readonly boolean: boolean;
  readonly list: readonly Dynamic[];
  readonly array: readonly Dynamic[];
  readonly object: Readonly<Record<string, Dynamic>>;
  readonly dict: Readonly<Record<string, Dynamic>>;
}

type ArtifactValue<A, Schemas, Name> = A extends readonly (infer One)[]
  ? One extends Name
    ? Dynamic
    : One extends { readonly type: Name }
      ? One extends { readonly schema: infer Schema }
        ? FromSchema<Schema extends keyof Schemas ? Schemas[Schema] : Schema>
        : Dynamic
      : never
  : never;

type ParamsAt<D extends Declared, Place> =
  IsOpen<D['params']> extends true
    ? Readonly<Record<string, Dynamic>>
    : { readonly [N in keyof D['params']]: ParamValue<D['params'][N]> } & {
        readonly [N in Exclude<EvidenceName<At<D['args'], Place>>, keyof D['params']>]: Dynamic;
      };

type ParamValue<P> =
  | (P extends { readonly choices: readonly (infer Choice)[] }
      ? Choice
      : P extends { readonly constant: infer Value }
        ? Value
        : P extends { readonly value: infer Value }
          ? Value
          : P extends { readonly lo: number; readonly hi: number }
            ? number
            : P extends { readonly type: infer Type }
              ? Type extends keyof ParamTypes
                ? ParamTypes[Type]
                : Dynamic
              : Dynamic)
  | (P extends { readonly required: true } | { readonly default: unknown } ? never : null);

interface ParamTypes {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly list: readonly Dynamic[];
  readonly object: Readonly<Record<string, Dynamic>>;
}

type DatabaseOf<Helpers> =
  IsOpen<Helpers> extends true
    ? Dynamic
    : DatabaseMethods & {
        readonly [N in Exclude<keyof Helpers, keyof DatabaseMethods>]: (
          ...args: readonly Dynamic[]
        ) => unknown extends Helpers[N] ? Dynamic : Helpers[N];
      };
