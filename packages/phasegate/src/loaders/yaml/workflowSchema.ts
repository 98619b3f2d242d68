import {
  CAPABILITY,
  EVIDENCE_RULES,
  LEASE_SECONDS,
  MAX_RECLAIMS,
  ONE_RUN_PER,
  RINGS,
} from '@phasegate/core/model';
import * as z from 'zod';
import { check, gateShape } from './gateSchema.ts';
import { about, anything, id, maybe, target, text, texts } from './schemaParts.ts';
import { type Rules, rulesAsJsonSchema, strictMap } from './strictMap.ts';

const schemaInPlace = z.union([z.string(), z.boolean(), anything]);

const gate = strictMap(
  { name: 'gate', description: 'What stands between two phases.', some: ['blockers', 'human'] },
  gateShape,
);
const gateInList = strictMap(
  { name: 'gate_in_list', description: 'What stands between two phases.', some: ['blockers', 'human'] },
  {
    id: about(text, "The gate's name."),
    ...gateShape,
  },
);
const gateInPlace = strictMap(
  { name: 'gate_in_place', description: 'A gate of this phase only.', some: ['blockers', 'human'] },
  { id: maybe(text, "The gate's name."), ...gateShape },
);

const loop = {
  max_iterations: maybe(
    z.number().int(),
    'How often the way back may be taken; left out: until its target was visited ten times.',
  ),
  on_exhausted: maybe(target, 'Where to go then; left out: to a human.'),
};
/** The shape of a `next` that asks a question. */
export const conditionalNext = strictMap(
  { name: 'condition', description: 'Two ways out, by a condition.', needed: ['on_true', 'on_false'] },
  {
    condition: about(text, 'For example `result.decision === "approved"`.'),
    on_true: maybe(target, 'Where to go when it holds.'),
    on_false: maybe(target, 'Where to go when it does not.'),
    ...loop,
  },
);
const outcomes = strictMap(
  { name: 'outcomes', description: 'A way out per outcome.' },
  {
    ok: maybe(target, 'The phase succeeded.'),
    fail: maybe(target, 'The phase failed.'),
    skip: maybe(target, 'A handler skipped it.'),
    iterate: maybe(target, 'Once more.'),
    _default: maybe(target, 'Every outcome that is not listed.'),
    ...loop,
  },
);
const route = z
  .union([z.string().min(1), z.number().int().nonnegative(), z.null(), conditionalNext, outcomes])
  .meta({ id: 'route', description: 'A phase, the end, a condition or a map of outcomes.' });

const artifact = z.union([
  z.string().min(1),
  strictMap(
    { name: 'artifact', description: 'Evidence with a JSON Schema.' },
    {
      type: about(text, 'Its name.'),
      schema: maybe(
        schemaInPlace,
        'The name of a schema, a path to one, or one in place; left out: any value.',
      ),
      description: maybe(text, 'What it is.'),
      verify: maybe(
        z.unknown(),
        'What the engine runs to see that it holds: `command`, a list of words; `expect: red` or `green` where these are tests; `needs: observed` where less than `verified` will do; and parameters of the check `tests` or `command`.',
      ),
      bound: maybe(
        z.boolean(),
        'Whether it is kept what the workspace held when it was handed in, so that the check `made_from_this_tree` can ask whether it still does.',
        false,
      ),
    },
  ),
]);

const evidenceShape = {
  type: about(text, '`int`, `str`, `list`, `bool`, `number` or `object`.'),
  rule: maybe(
    z.enum(EVIDENCE_RULES),
    'What its value must be; left out: `present`, and `is_true` for a boolean.',
    'present',
  ),
  false_ok: maybe(z.boolean(), 'Whether `false` will do for a boolean; else it must be `true`.', false),
  description: maybe(text, 'What it is.'),
};

/** The keys of a phase. */
export const phaseShape: Readonly<Record<string, z.ZodType>> = {
  name: maybe(text, 'What humans call it; left out: the id.'),
  description: maybe(text, 'One sentence about it, shown above the instructions.'),
  instructions: maybe(text, 'What the agent is told.'),
  command: maybe(
    text,
    'A command that does the work, split into words without a shell; shown to the agent, not run in this release.',
  ),
  dispatch: maybe(
    strictMap(
      { name: 'dispatch', description: 'Hands the work to another agent.' },
      {
        agent: about(text, 'Which agent.'),
        script: maybe(text, 'What it runs.'),
        prompt: maybe(text, 'What it is told.'),
        supports_questions: maybe(z.boolean(), 'Whether it may ask a human.', false),
      },
    ),
    'The agent that does the work; shown to the agent that holds the run.',
  ),
  allowed_tools: maybe(texts, 'Tools and groups of tools; anything else is refused. Left out: no tool.'),
  forbidden_tools: maybe(texts, 'Tools that are refused whatever else is said.'),
  tool_constraints: maybe(
    z.record(
      z.string(),
      strictMap(
        { name: 'tool_constraint', description: 'What a tool may be called with.' },
        {
          allowed: maybe(
            texts,
            'Path globs for file tools, word patterns for `bash` and `git`; every call must match one.',
          ),
          denied: maybe(texts, 'What is refused among them.'),
        },
      ),
    ),
    'Limits on single tools, inside `writes`.',
  ),
  writes: maybe(
    texts,
    'The one write scope, as globs from the root; left out: what the constraints of the writing tools allow, else nothing.',
  ),
  network: maybe(
    strictMap(
      { name: 'network', description: 'What programs of the phase may reach from a sandbox.' },
      {
        hosts: maybe(
          texts,
          'Hosts: `host`, `*.domain` or `host:port`; 443 where no port is named. Left out: none.',
        ),
      },
    ),
    'Hosts that programs of the phase may reach from a sandbox, through a proxy. Left out: none.',
  ),
  tasks: maybe(
    z.array(
      strictMap(
        { name: 'task', description: 'A piece of instruction, fetched one at a time.' },
        {
          name: about(text, 'What it is called.'),
          instructions: maybe(text, 'What the agent is told.'),
          acceptance_criteria: maybe(texts, 'When it is done.'),
        },
      ),
    ),
    'Pieces of instruction; the phase is not complete before each was fetched.',
  ),
  only_when: maybe(
    z.record(z.string(), z.array(z.union([z.string(), z.number(), z.boolean()]))),
    'The values of params with which it is entered at all, such as `{ mode: [full] }`.',
  ),
  preconditions: maybe(z.array(check), 'Must hold to enter; looked at when the phase before is completed.'),
  postconditions: maybe(z.array(check), 'Must hold to leave; one that does not is a failed attempt.'),
  required_artifacts: maybe(z.array(artifact), 'Evidence with a JSON Schema, by name or as a map.'),
  required_evidence: maybe(
    z.union([
      z.record(z.string(), strictMap({ name: 'evidence', description: 'A named value.' }, evidenceShape)),
      z.array(
        z.union([
          z.string().min(1),
          strictMap(
            { name: 'evidence_in_list', description: 'A named value.' },
            { name: about(text, 'Its name.'), ...evidenceShape },
          ),
        ]),
      ),
    ]),
    'Named values that must be submitted; a bare name in a list takes any value.',
  ),
  gate: maybe(z.union([z.string().min(1), gateInPlace]), 'The gate behind the phase, by name or in place.'),
  gates: maybe(
    z.array(z.union([z.string().min(1), gateInPlace])),
    'The gates behind the phase; one with a human at most.',
  ),
  parallel: maybe(z.boolean(), 'Whether it is done once per item of `parallel_key`.', false),
  parallel_key: maybe(text, 'Path into the checkpoint that holds the list of items.'),
  on_empty: maybe(
    target,
    'Where a parallel phase leads when the list is empty; left out: where it leads anyway.',
  ),
  timeout: maybe(
    z.union([z.string(), z.number().int().min(1)]),
    'How long its command or agent may take: seconds, or a duration such as `90s`, `5m` or `2h`.',
  ),
  next: maybe(route, 'Where it leads; left out: the following phase; `null`: the end.'),
  transitions: maybe(route, 'The same as `next`.'),
};
/** What is said of a phase beside its keys. */
export const phaseRules: Pick<Rules, 'exclusive' | 'withFlag' | 'onlyWithFlag'> = {
  withFlag: { flag: 'parallel', key: 'parallel_key' },
  onlyWithFlag: { flag: 'parallel', key: 'on_empty' },
  exclusive: [
    ['next', 'transitions'],
    ['gate', 'gates'],
    ['command', 'dispatch'],
  ],
};
const phase = strictMap({ name: 'phase', description: 'One phase.', ...phaseRules }, phaseShape);
const phaseInList = strictMap(
  { name: 'phase_in_list', description: 'One phase.', ...phaseRules },
  { id: about(id, 'Its id.'), ...phaseShape },
);

const param = strictMap(
  { name: 'param', description: 'A parameter of a run.' },
  {
    type: maybe(text, '`string`, `integer`, `number`, `boolean`, `list` or `object`.'),
    description: maybe(text, 'What it is for.'),
    choices: maybe(z.array(z.unknown()), 'The values it may have.'),
    min: maybe(z.number(), 'The least it may be.'),
    max: maybe(z.number(), 'The most it may be.'),
    constant: maybe(z.unknown(), 'The one value it has.'),
    default: maybe(z.unknown(), 'What it is when it is not given.'),
    required: maybe(z.boolean(), 'Whether a run needs it.', false),
    set_by: maybe(
      z.enum(['human', 'anyone']),
      '`human`: an agent that starts a run cannot give it another value than its default.',
      'anyone',
    ),
  },
);

const subjects = z.union([id, z.array(id)]);
const property = strictMap(
  {
    name: 'property',
    description: 'A promise about every run, proven by `phasegate check`.',
    some: ['always', 'never', 'before'],
    exclusive: [
      ['always', 'never'],
      ['always', 'before'],
      ['never', 'before'],
    ],
  },
  {
    name: about(text, 'What it is called in reports.'),
    always: maybe(subjects, 'Phases and human gates that every run that reaches the end has passed.'),
    never: maybe(subjects, 'A phase or gate that no run reaches; several: that no run reaches them all.'),
    before: maybe(z.array(id), 'Each is passed before the one after it is entered.'),
  },
);

// The pattern is for editors: anyone who loads a file is told more than that something does not match.
const capability = z.string().meta({ pattern: CAPABILITY });

/** The shape of a YAML contract. */
export const workflowSchema = strictMap(
  { description: 'A workflow contract.' },
  {
    workflow: about(text, "The workflow's id: what `start` is given."),
    title: maybe(text, 'What humans call it.'),
    version: maybe(
      z.union([z.string(), z.number()]),
      "The author's own version; means nothing to the engine.",
    ),
    description: maybe(text, 'One sentence about it.'),
    entry: maybe(id, 'The first phase; left out: the first one written.'),
    params: maybe(z.record(z.string(), param), 'Parameters of a run.'),
    start: maybe(z.enum(['human', 'anyone']), '`human`: only a human may start a run.', 'anyone'),
    tools: maybe(z.record(z.string(), texts), 'Groups of tools by name.'),
    schemas: maybe(z.record(z.string(), schemaInPlace), 'JSON Schemas by name, in place or by path.'),
    enforcement: maybe(
      strictMap(
        { name: 'enforcement', description: 'How strictly the workflow is held.' },
        {
          mode: maybe(
            z.enum(['strict', 'permissive', 'advisory']),
            '`permissive`, also spelled `advisory`, records what it would refuse and lets it pass.',
            'strict',
          ),
          ring: maybe(
            z.enum(RINGS),
            'How an agent must be attached; all but `hooked+isolated` are in this release.',
            'served',
          ),
          workspace: maybe(
            z.enum(['exclusive', 'shared']),
            '`exclusive`: no other run that may write works in the workspace at the same time; the later one waits in the queue. `shared`: runs that all say so work in it together, and each answers for its own changes.',
            'exclusive',
          ),
          phase_tokens: maybe(
            strictMap(
              { name: 'phase_tokens', description: 'Phase tokens.' },
              { expiry_seconds: maybe(z.number().int(), 'How long a token lives, from 60 to 86400.', 7200) },
            ),
            'How long phase tokens live.',
          ),
          lease_seconds: maybe(
            z.number().int().min(1).max(86_400),
            'How long an agent may be silent before its run goes to another.',
            LEASE_SECONDS,
          ),
          max_reclaims: maybe(
            z.number().int().min(0).max(100),
            'How often a run is handed out again after its agent was lost. Then a human must act.',
            MAX_RECLAIMS,
          ),
        },
      ),
      'Mode, ring, tokens and leases.',
    ),
    capabilities: maybe(
      z.array(capability),
      'What an agent must be able to do to claim a run, beside what the run itself asks for.',
    ),
    one_run_per: maybe(
      z.enum(ONE_RUN_PER),
      'Refuses to start a run while another one of this workflow, or of it for the same target, is not ended.',
    ),
    database: maybe(
      strictMap(
        { name: 'database', description: "The project's own SQLite database, protected." },
        {
          file: about(text, 'Its path, relative to the project; commands get a copy as `PHASEGATE_DB`.'),
          migrations: maybe(text, 'Folder of numbered migrations, the only way to change the schema.'),
          keep: maybe(z.number().int().min(1).max(1000), 'How many backups to keep; left out: 10.'),
        },
      ),
      "The project's own SQLite database that steps work on.",
    ),
    properties: maybe(z.array(property), 'What must be true of every run.'),
    gates: maybe(
      z.union([z.record(z.string(), gate), z.array(gateInList)]),
      'Gates by name, or a list with `id`.',
    ),
    phases: about(
      z.union([z.record(z.string(), z.union([phase, z.null()])), z.array(phaseInList)]),
      'Phases by id, or a list with `id`.',
    ),
  },
);

/** The published JSON Schema (draft-07) of the YAML format, made from the same shapes the loader reads with. */
export function workflowJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(workflowSchema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      Object.assign(jsonSchema, rulesAsJsonSchema(zodSchema, jsonSchema.properties ?? {}));
    },
  });
  return { title: 'Phasegate workflow', ...schema };
}
