import { stripTypeScriptTypes } from 'node:module';
import { Lines } from '@phasegate/core/model';
import { type Options, parse } from 'acorn';

/** A node of a syntax tree; offsets are those of the source as it was written. */
export interface AstNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A module read without being run, or where its syntax is wrong. */
export type ParsedModule =
  | {
      readonly ok: true;
      readonly program: AstNode;
      readonly lines: Lines;
      readonly format: 'module' | 'commonjs';
      /** The source without its types, every character where it was. */
      readonly code: string;
    }
  | { readonly ok: false; readonly line: number; readonly column: number; readonly message: string };

/** Parses a module of TypeScript or JavaScript. Types are blanked out, so that every position stays what it was. */
export function parseModule(path: string, text: string): ParsedModule {
  const lines = new Lines(text);
  const isTypeScript = /\.[mc]?ts$/i.test(path);
  let source = text;
  if (isTypeScript) {
    try {
      const stripped = withoutWarnings(() =>
        stripTypeScriptTypes(text, { mode: 'strip', sourceUrl: 'module.ts' }),
      );
      // The name is for the message of a syntax error; a stack must tell the file's own.
      source = stripped.replace(/\s*\/\/# sourceURL=module\.ts$/, '');
    } catch (error) {
      return {
        ok: false,
        ...placeOf(error),
        message: lowerFirst(error instanceof Error ? error.message : String(error)),
      };
    }
  }
  const asScript = (): AstNode => parseAs('script', source);
  const tried = attempt(() => (/\.c[jt]s$/i.test(path) ? asScript() : parseAs('module', source)));
  if (/\.c[jt]s$/i.test(path) && tried.ok) return { ...tried, lines, format: 'commonjs', code: source };
  // A name that says neither: it is a module if it has a module's syntax, as Node has it.
  if (/\.[jt]s$/i.test(path) && !(tried.ok && hasModuleSyntax(tried.program))) {
    const script = attempt(asScript);
    if (script.ok) return { ...script, lines, format: 'commonjs', code: source };
  }
  if (tried.ok) return { ...tried, lines, format: 'module', code: source };
  const { error } = tried;
  const at = error instanceof SyntaxError && 'pos' in error ? Number(error.pos) : 0;
  const message = error instanceof Error ? error.message.replace(/ \(\d+:\d+\)$/, '') : String(error);
  return { ok: false, ...lines.at(at), message: lowerFirst(message) };
}

type Tried =
  | { readonly ok: true; readonly program: AstNode }
  | { readonly ok: false; readonly error: unknown };

function attempt(parsing: () => AstNode): Tried {
  try {
    return { ok: true, program: parsing() };
  } catch (error) {
    return { ok: false, error };
  }
}

function parseAs(sourceType: 'module' | 'script', source: string): AstNode {
  const isScript = sourceType === 'script';
  const options: Options = {
    ecmaVersion: 'latest',
    sourceType,
    allowHashBang: true,
    allowReturnOutsideFunction: isScript,
  };
  return parse(source, options) as unknown as AstNode;
}

function hasModuleSyntax(program: AstNode): boolean {
  for (const node of nodesOf(program)) {
    if (/^(?:ImportDeclaration|Export\w+Declaration)$/.test(node.type)) return true;
    // `new.target` is one too, and stands in scripts.
    if (node.type === 'MetaProperty' && childOf(node, 'meta')?.name === 'import') return true;
  }
  return false;
}

/** Every node of a tree, parents before children. */
export function* nodesOf(node: AstNode): Generator<AstNode> {
  const open: AstNode[] = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    const children: AstNode[] = [];
    for (const member of Object.values(next)) {
      for (const child of Array.isArray(member) ? member : [member]) if (isNode(child)) children.push(child);
    }
    // One by one: a call takes only so many arguments, and a file may hold a very long list.
    for (const child of children.reverse()) open.push(child);
  }
}

/** Whether a value is a node. */
export function isNode(value: unknown): value is AstNode {
  return typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string';
}

/** The child of a node under a key, if it is one. */
export function childOf(node: AstNode | undefined, key: string): AstNode | undefined {
  const child = node?.[key];
  return isNode(child) ? child : undefined;
}

/** The children of a node under a key. */
export function childrenOf(node: AstNode | undefined, key: string): readonly AstNode[] {
  const children = node?.[key];
  return Array.isArray(children) ? children.filter(isNode) : [];
}

/** Stripping types is still marked experimental; that is no news to anyone who validates a workflow. */
function withoutWarnings<T>(act: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Where a syntax error of TypeScript is: only the drawing at the head of its stack says so. */
function placeOf(error: unknown): { readonly line: number; readonly column: number } {
  const stack = error instanceof Error ? String(error.stack) : '';
  const line = Number(/^module\.ts:(\d+)/.exec(stack)?.[1] ?? 1);
  const caret = /^( *)\^/m.exec(stack)?.[1];
  return { line, column: (caret?.length ?? 0) + 1 };
}

function lowerFirst(text: string): string {
  return text.startsWith('TypeScript') ? text : text.charAt(0).toLowerCase() + text.slice(1);
}
