import { type AstNode, childOf, childrenOf, isNode, nodesOf } from './parseModule.ts';

/** Where a module defines its workflow, as far as that can be read from the source. */
export interface FoundWorkflow {
  /** Every call that defines a workflow. */
  readonly calls: readonly AstNode[];
  /** Whether something is exported that the loader would take. */
  readonly exported: boolean;
  /** What is exported, where it can be told. */
  readonly call: AstNode | undefined;
  /** The object with the workflow's own fields, where it is written out. */
  readonly definition: AstNode | undefined;
  /** Its steps, where the list is written out. */
  readonly steps: readonly AstNode[] | undefined;
  readonly id: string | undefined;
  readonly title: string | undefined;
  /** The names of all steps, where all are written out. */
  readonly phases: readonly string[] | null;
}

const CONSTRUCTORS = ['defineWorkflow', 'Workflow'];

/** Reads a module's workflow from its source, without running any of it. */
export function findWorkflow(program: AstNode): FoundWorkflow {
  const scope = new ModuleScope(program);
  const calls = [...nodesOf(program)].filter((node) => scope.constructorOf(node) !== undefined);
  const exports = scope.exports();
  const offered = exports.get('default') ?? exports.get('WORKFLOW') ?? onlyCall(exports, calls);
  const value = scope.follow(offered);
  const call = value !== undefined && calls.includes(value) ? value : undefined;
  const base = { calls, exported: offered !== undefined, call };
  if (call === undefined)
    return {
      ...base,
      definition: undefined,
      steps: undefined,
      id: undefined,
      title: undefined,
      phases: null,
    };
  const args = childrenOf(call, 'arguments');
  const read =
    scope.constructorOf(call) === 'Workflow' ? readWorkflow(scope, args) : readDefinition(scope, args);
  return { ...base, ...read, phases: stepNames(scope, read.steps) };
}

/** A workflow's id as far as it is written out; else the name of its file. */
export function workflowIdIn(path: string, program: AstNode): string {
  return findWorkflow(program).id ?? stemOf(path);
}

/** The name of a module's file, without what says that it is a workflow. */
export function stemOf(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/(?:\.workflow)?\.m?[jt]s$/, '');
}

/** The value of a property of an object that is written out. */
export function propertyOf(object: AstNode | undefined, name: string): AstNode | undefined {
  if (object?.type !== 'ObjectExpression') return undefined;
  const property = childrenOf(object, 'properties').findLast((candidate) => keyOf(candidate) === name);
  return childOf(property, 'value');
}

/** The object a step is written as, also inside `StepDef(…)`. */
export function stepObject(step: AstNode | undefined): AstNode | undefined {
  if (step?.type === 'ObjectExpression') return step;
  return step?.type === 'CallExpression' ? childrenOf(step, 'arguments')[0] : undefined;
}

function readDefinition(scope: ModuleScope, args: readonly AstNode[]) {
  const definition = scope.follow(args[0]);
  const steps = scope.follow(propertyOf(definition, 'steps'));
  return {
    definition,
    steps: steps?.type === 'ArrayExpression' ? elements(scope, childrenOf(steps, 'elements')) : undefined,
    id: scope.text(propertyOf(definition, 'type')),
    title: scope.text(propertyOf(definition, 'name')),
  };
}

function readWorkflow(scope: ModuleScope, args: readonly AstNode[]) {
  const last = scope.follow(args.at(-1));
  const isOptions = last?.type === 'ObjectExpression' && !propertyOf(last, 'id') && !propertyOf(last, 'name');
  return {
    definition: isOptions ? last : undefined,
    steps: elements(scope, args.slice(1, isOptions ? -1 : undefined)),
    id: scope.text(args[0]),
    title: isOptions ? scope.text(propertyOf(last, 'title')) : undefined,
  };
}

function elements(scope: ModuleScope, nodes: readonly AstNode[]): readonly AstNode[] | undefined {
  if (nodes.some((node) => node.type === 'SpreadElement')) return undefined;
  return nodes.map((node) => scope.follow(node) ?? node);
}

function stepNames(scope: ModuleScope, steps: readonly AstNode[] | undefined): readonly string[] | null {
  const names = steps?.map((step) => {
    const object = scope.follow(stepObject(step));
    return scope.text(propertyOf(object, 'id')) ?? scope.text(propertyOf(object, 'name'));
  });
  return names?.every((name) => name !== undefined) ? names : null;
}

function onlyCall(exports: ReadonlyMap<string, AstNode>, calls: readonly AstNode[]): AstNode | undefined {
  const found = [...exports.values()].filter((node) => calls.includes(node));
  return found.length === 1 ? found[0] : undefined;
}

/** The top level of a module: what it imports, defines and exports. */
class ModuleScope {
  readonly #body: readonly AstNode[];
  readonly #constants = new Map<string, AstNode>();
  /** Local name → `defineWorkflow` or `Workflow`. */
  readonly #constructors = new Map<string, string>();
  readonly #namespaces = new Set<string>();

  constructor(program: AstNode) {
    this.#body = childrenOf(program, 'body');
    for (const statement of this.#body) {
      if (statement.type === 'ImportDeclaration') this.#readImport(statement);
      const declaration =
        statement.type === 'ExportNamedDeclaration' ? childOf(statement, 'declaration') : statement;
      for (const declarator of childrenOf(declaration, 'declarations')) {
        const init = childOf(declarator, 'init');
        if (init !== undefined) this.#constants.set(nameOf(childOf(declarator, 'id')), init);
      }
    }
  }

  /** Which constructor a node calls, if any. */
  constructorOf(node: AstNode): string | undefined {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return undefined;
    const callee = childOf(node, 'callee');
    if (callee?.type === 'Identifier') return this.#constructors.get(nameOf(callee));
    const name = nameOf(childOf(callee, 'property'));
    return this.#namespaces.has(nameOf(childOf(callee, 'object'))) && CONSTRUCTORS.includes(name)
      ? name
      : undefined;
  }

  exports(): ReadonlyMap<string, AstNode> {
    const found = new Map<string, AstNode>();
    for (const statement of this.#body) {
      const declaration = childOf(statement, 'declaration');
      if (statement.type === 'ExportDefaultDeclaration' && declaration) found.set('default', declaration);
      if (statement.type !== 'ExportNamedDeclaration') continue;
      for (const declarator of childrenOf(declaration, 'declarations')) {
        const init = childOf(declarator, 'init');
        if (init !== undefined) found.set(nameOf(childOf(declarator, 'id')), init);
      }
      for (const specifier of childrenOf(statement, 'specifiers')) {
        const local = childOf(specifier, 'local');
        if (local) found.set(nameOf(childOf(specifier, 'exported')), this.follow(local) ?? local);
      }
    }
    return found;
  }

  /** What a name stands for, if it is a constant of the module; any other node is itself. */
  follow(node: AstNode | undefined): AstNode | undefined {
    let here = node;
    for (let hops = 0; here?.type === 'Identifier' && hops < 10; hops++) {
      const next = this.#constants.get(nameOf(here));
      if (next === undefined) return here;
      here = next;
    }
    return here;
  }

  /** The text a node stands for, if it is written out. */
  text(node: AstNode | undefined): string | undefined {
    const here = this.follow(node);
    if (here?.type === 'Literal' && (typeof here.value === 'string' || typeof here.value === 'number')) {
      return String(here.value);
    }
    const [only, ...more] = childrenOf(here, 'quasis');
    const cooked = (only?.value as { readonly cooked?: string } | undefined)?.cooked;
    return here?.type === 'TemplateLiteral' && more.length === 0 ? cooked : undefined;
  }

  #readImport(statement: AstNode): void {
    for (const specifier of childrenOf(statement, 'specifiers')) {
      const local = nameOf(childOf(specifier, 'local'));
      if (specifier.type === 'ImportNamespaceSpecifier') this.#namespaces.add(local);
      const imported = nameOf(childOf(specifier, 'imported'));
      if (CONSTRUCTORS.includes(imported)) this.#constructors.set(local, imported);
    }
  }
}

function nameOf(node: AstNode | undefined): string {
  return String(node?.name ?? (isNode(node) && typeof node.value === 'string' ? node.value : ''));
}

function keyOf(property: AstNode): string | undefined {
  if (property.type !== 'Property' || property.computed === true) return undefined;
  const key = childOf(property, 'key');
  return key?.type === 'Literal' ? String(key.value) : nameOf(key);
}
