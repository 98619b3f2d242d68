import type { PhaseDraft } from '@phasegate/core';
import { EVIDENCE_RULES } from '@phasegate/core/model';
import { type Compilation, defined, type Fields, type Path, type WorkflowFunction } from './compilation.ts';
import { compileConditions } from './compileCondition.ts';
import { compileGate, compileHuman } from './compileGate.ts';
import { compileRoute } from './compileRoute.ts';

const KEYS = [
  'name',
  'id',
  'title',
  'description',
  'instructions',
  'actions',
  'body',
  'command',
  'handler',
  'args',
  'onlyWhen',
  'preconditions',
  'postconditions',
  'parallel',
  'parallelKey',
  'onEmpty',
  'timeout',
  'humanGate',
  'gate',
  'gates',
  'allowedTools',
  'forbiddenTools',
  'toolConstraints',
  'writes',
  'network',
  'tasks',
  'requiredArtifacts',
  'requiredEvidence',
  'next',
];

/** Compiles one step to a phase; a step without a name is none. */
export function compileStep(compilation: Compilation, value: unknown, path: Path): PhaseDraft | undefined {
  const fields = compilation.fields(value, path, KEYS);
  if (fields === undefined) return undefined;
  if (fields.id === undefined && fields.name === undefined) {
    compilation.problem(path, 'missing_key', 'a step needs a `name` or an `id`');
    return undefined;
  }
  const id = compilation.id(fields.id ?? fields.name, [...path, 'id']);
  if (id === undefined) return undefined;
  const owner = `steps/${id}`;
  const at = (key: string) => [...path, key];
  const title = compilation.text(fields.title, at('name'));
  const name = fields.id === undefined ? undefined : compilation.text(fields.name, at('name'));
  const body = compileBody(compilation, fields.body, { path: at('body'), owner });
  return {
    id,
    ...defined({
      name: title ?? body.title ?? name,
      description: compilation.text(fields.description, at('description')),
      instructions: instructionsOf(compilation, fields, { path, body: body.text }),
      render: body.render,
      work: compileWork(compilation, fields, { path, owner }),
      allowedTools: compilation.texts(fields.allowedTools, at('allowedTools')),
      forbiddenTools: compilation.texts(fields.forbiddenTools, at('forbiddenTools')),
      toolConstraints: compilation.map(fields.toolConstraints, at('toolConstraints'), (item, place) => {
        const lists = compilation.fields(item, place, ['allowed', 'denied']);
        return (
          lists &&
          defined({
            allowed: compilation.texts(lists.allowed, [...place, 'allowed']),
            denied: compilation.texts(lists.denied, [...place, 'denied']),
          })
        );
      }),
      writes: compilation.texts(fields.writes, at('writes')),
      network: compileNetwork(compilation, fields.network, at('network')),
      tasks: compilation.list(fields.tasks, at('tasks'), (item, place) =>
        compileTask(compilation, item, place),
      ),
      onlyWhen: compilation.map(fields.onlyWhen, at('onlyWhen'), (values, place) =>
        compilation.list(values, place, (value, spot) => compilation.json(value, spot)),
      ),
      preconditions: compileConditions(compilation, fields.preconditions, {
        path: at('preconditions'),
        owner: `${owner}/preconditions`,
      }),
      postconditions: compileConditions(compilation, fields.postconditions, {
        path: at('postconditions'),
        owner: `${owner}/postconditions`,
      }),
      fields: compileEvidence(compilation, fields.requiredEvidence, at('fields')),
      artifacts: compilation.list(fields.requiredArtifacts, at('artifacts'), (item, place) =>
        compileArtifact(compilation, item, place),
      ),
      gates: compileGates(compilation, fields, { path: at('gates'), owner }),
      parallel: compileParallel(compilation, fields, path),
      timeout:
        typeof fields.timeout === 'string'
          ? fields.timeout
          : compilation.number(fields.timeout, at('timeout')),
      next: compileRoute(compilation, fields.next, { path: at('next'), owner }),
    }),
  };
}

interface Place {
  readonly path: Path;
  readonly owner: string;
}

function compileBody(compilation: Compilation, value: unknown, { path, owner }: Place) {
  if (typeof value === 'function') {
    return { render: compilation.keep(`${owner}/body`, 'body', value as WorkflowFunction) };
  }
  if (Array.isArray(value)) {
    const [title, text] = value;
    if (value.length === 2 && typeof title === 'string' && typeof text === 'string') return { title, text };
    compilation.problem(path, 'wrong_type', '`body` as a pair must be a title and a text');
    return {};
  }
  return { text: compilation.text(value, path) };
}

function instructionsOf(
  compilation: Compilation,
  fields: Fields,
  { path, body }: { readonly path: Path; readonly body: string | undefined },
): string | undefined {
  const actions = compilation.texts(fields.actions, [...path, 'actions']);
  const instructions = compilation.text(fields.instructions, [...path, 'instructions']);
  const parts = [instructions, actions?.join('\n'), body].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? undefined : parts.join('\n\n');
}

function compileWork(compilation: Compilation, fields: Fields, { path, owner }: Place): PhaseDraft['work'] {
  const at = [...path, 'work'];
  const command = compilation.text(fields.command, at);
  const { handler } = fields;
  if (command !== undefined && handler !== undefined) {
    compilation.problem(at, 'conflict', 'a step has a `command` or a `handler`, not both');
  }
  if (command !== undefined) return { kind: 'command', command };
  if (handler === undefined) return undefined;
  if (typeof handler === 'function') {
    return {
      kind: 'handler',
      ref: compilation.keep(`${owner}/handler`, 'handler', handler as WorkflowFunction),
    };
  }
  if (
    typeof handler !== 'object' ||
    handler === null ||
    !('kind' in handler) ||
    handler.kind !== 'dispatch'
  ) {
    compilation.problem(at, 'wrong_type', '`handler` must be a function or a `Dispatch`');
    return undefined;
  }
  const dispatch =
    compilation.fields(handler, at, ['kind', 'agent', 'script', 'prompt', 'supportsQuestions']) ?? {};
  const agent = compilation.text(dispatch.agent, [...at, 'agent']);
  if (dispatch.agent === undefined) compilation.problem(at, 'missing_key', 'a `Dispatch` needs an `agent`');
  if (agent === undefined) return undefined;
  return {
    kind: 'dispatch',
    agent,
    ...defined({
      script: compilation.text(dispatch.script, [...at, 'script']),
      prompt: compilation.text(dispatch.prompt, [...at, 'prompt']),
      supportsQuestions: compilation.flag(dispatch.supportsQuestions, [...at, 'supportsQuestions']),
    }),
  };
}

function compileTask(compilation: Compilation, value: unknown, path: Path) {
  const fields = compilation.fields(value, path, ['name', 'instructions', 'acceptanceCriteria']);
  if (fields === undefined) return undefined;
  if (fields.name === undefined) compilation.problem(path, 'missing_key', 'a task needs a `name`');
  const name = compilation.text(fields.name, [...path, 'name']);
  if (name === undefined) return undefined;
  return {
    name,
    ...defined({
      instructions: compilation.text(fields.instructions, [...path, 'instructions']),
      acceptanceCriteria: compilation.texts(fields.acceptanceCriteria, [...path, 'acceptanceCriteria']),
    }),
  };
}

function compileEvidence(compilation: Compilation, value: unknown, path: Path): PhaseDraft['fields'] {
  const map = compilation.map(value, path, (member, at, name) => {
    const fields = compilation.fields(member, at, ['type', 'rule', 'description', 'falseOk']);
    if (fields === undefined) return undefined;
    if (fields.type === undefined)
      compilation.problem(at, 'missing_key', `evidence \`${name}\` needs a \`type\``);
    const type = compilation.text(fields.type, [...at, 'type']);
    if (type === undefined) return undefined;
    return {
      name,
      type,
      ...defined({
        rule: compilation.choice(fields.rule, [...at, 'rule'], EVIDENCE_RULES),
        falseOk: compilation.flag(fields.falseOk, [...at, 'falseOk']),
        description: compilation.text(fields.description, [...at, 'description']),
      }),
    };
  });
  return map && Object.values(map);
}

function compileArtifact(compilation: Compilation, value: unknown, path: Path) {
  if (typeof value === 'string') return { type: value };
  const fields = compilation.fields(value, path, ['type', 'description', 'schema', 'verify']);
  if (fields === undefined) return undefined;
  if (fields.type === undefined) compilation.problem(path, 'missing_key', 'an artifact needs a `type`');
  const type = compilation.text(fields.type, [...path, 'type']);
  if (type === undefined) return undefined;
  return {
    type,
    ...defined({
      description: compilation.text(fields.description, [...path, 'description']),
      schema: compileArtifactSchema(compilation, fields.schema, [...path, 'schema']),
      verify: compilation.json(fields.verify, [...path, 'verify']),
    }),
  };
}

function compileArtifactSchema(compilation: Compilation, value: unknown, path: Path) {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  const fields = compilation.fields(value, path, null);
  return fields && (compilation.json(fields, path) as Readonly<Record<string, never>>);
}

function compileGates(compilation: Compilation, fields: Fields, { path, owner }: Place): PhaseDraft['gates'] {
  if (fields.gate !== undefined && fields.gates !== undefined) {
    compilation.problem(path, 'conflict', 'a step has a `gate` or `gates`, not both');
  }
  const single = fields.gate === undefined ? undefined : [fields.gate];
  const named = fields.gates === undefined ? single : fields.gates;
  const gates = compilation.list(named, path, (item, at) =>
    typeof item === 'string' ? item : compileGate(compilation, item, { path: at, owner: `${owner}/gate` }),
  );
  const human = compileHuman(compilation, fields.humanGate, [...path, gates?.length ?? 0, 'human']);
  if (human === undefined) return gates;
  return [...(gates ?? []), { human }];
}

function compileParallel(compilation: Compilation, fields: Fields, path: Path): PhaseDraft['parallel'] {
  const parallel = compilation.flag(fields.parallel, [...path, 'parallel']);
  const key = compilation.text(fields.parallelKey, [...path, 'parallel', 'key']);
  if (parallel === true && fields.parallelKey === undefined) {
    compilation.problem([...path, 'parallel'], 'missing_key', 'a parallel step needs a `parallelKey`');
  }
  if (parallel !== true && key !== undefined) {
    compilation.problem(
      [...path, 'parallel'],
      'missing_key',
      '`parallelKey` needs `parallel: true` beside it',
    );
  }
  const onEmpty = compilation.target(fields.onEmpty, [...path, 'parallel', 'onEmpty']);
  if (parallel !== true && fields.onEmpty !== undefined) {
    compilation.problem([...path, 'parallel'], 'conflict', '`onEmpty` needs `parallel: true` beside it');
  }
  if (parallel !== true || key === undefined) return undefined;
  return { key, ...defined({ onEmpty }) };
}

function compileNetwork(compilation: Compilation, value: unknown, path: Path): PhaseDraft['network'] {
  if (value === undefined) return undefined;
  const fields = compilation.fields(value, path, ['hosts']);
  return fields && defined({ hosts: compilation.texts(fields.hosts, [...path, 'hosts']) });
}
