import type { DatabaseDefinition, GateDefinition, WorkflowDefinition, WorkflowStep } from './definition.ts';
import type { Dynamic } from './stepContext.ts';
import type { StepDatabase } from './stepDatabase.ts';
import type { ContextAt, SharedContext } from './typedContext.ts';

/**
 * A `WorkflowDefinition` whose functions are typed by what it declares itself. Each parameter stands at the one place it
 * is inferred from: params and schemas whole, helpers by name, and three keys of the steps by the place of the step.
 * But for the helpers none holds a function, so that all are known before the first `ctx` is typed.
 */
export interface TypedDefinition<Params, Schemas, Helpers, Evidence, Artifacts, Args>
  extends Omit<WorkflowDefinition, 'params' | 'schemas' | 'database' | 'gates' | 'steps'> {
  readonly params?: Params;
  readonly schemas?: Schemas;
  readonly database?: Omit<DatabaseDefinition, 'helpers'> & {
    readonly helpers?: {
      readonly [Name in keyof Helpers]: (db: StepDatabase, ...args: readonly Dynamic[]) => Helpers[Name];
    };
  };
  readonly gates?: Readonly<
    Record<string, GateDefinition<SharedContext<Said<Params, Schemas, Helpers, Evidence, Artifacts, Args>>>>
  >;
  readonly steps:
    | {
        readonly [Place in keyof Evidence]: WorkflowStep<
          ContextAt<Said<Params, Schemas, Helpers, Evidence, Artifacts, Args>, Place>
        > & { readonly requiredEvidence?: Evidence[Place] };
      }
    | { readonly [Place in keyof Artifacts]: Unmet & { readonly requiredArtifacts?: Artifacts[Place] } }
    | { readonly [Place in keyof Args]: Unmet & { readonly args?: Args[Place] } };
}

interface Said<Params, Schemas, Helpers, Evidence, Artifacts, Args> {
  readonly params: NoInfer<Params>;
  readonly schemas: NoInfer<Schemas>;
  readonly helpers: NoInfer<Helpers>;
  readonly evidence: NoInfer<Evidence>;
  readonly artifacts: NoInfer<Artifacts>;
  readonly args: NoInfer<Args>;
}

declare const unmet: unique symbol;

/** Steps are inferred from by each part of the union, and meet the first alone: an intersection would not type `ctx`. */
interface Unmet {
  readonly [unmet]: never;
}
