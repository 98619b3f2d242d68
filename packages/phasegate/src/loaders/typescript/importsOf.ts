import { type AstNode, childOf, childrenOf, nodesOf } from './parseModule.ts';

/** One import of a module, whichever way it is written. */
export interface FoundImport {
  /** Null where the name is computed, or computed from elsewhere than this very file. */
  readonly specifier: string | null;
  readonly kind: 'import' | 'require';
  /** Offset in the source. */
  readonly at: number;
}

const DECLARATIONS = /^(?:Import(?:Declaration|Expression)|Export(?:All|Named)Declaration)$/;

/** Every import of a module: declarations, `import()`, `require()`, and what `createRequire` gives. */
export function* importsOf(program: AstNode): Generator<FoundImport> {
  const requires = new RequireNames(program);
  for (const node of nodesOf(program)) {
    if (DECLARATIONS.test(node.type)) {
      const source = childOf(node, 'source');
      if (source !== undefined) yield { specifier: literalText(source), kind: 'import', at: source.start };
    } else if (node.type === 'CallExpression') {
      const callee = childOf(node, 'callee');
      const [argument] = childrenOf(node, 'arguments');
      if (requires.isForeign(node)) yield { specifier: null, kind: 'require', at: node.start };
      if (argument === undefined || !requires.isRequire(callee)) continue;
      yield { specifier: literalText(argument), kind: 'require', at: argument.start };
    }
  }
}

/** What a module calls `require`: the name itself, and every name that holds what `createRequire` gave. */
class RequireNames {
  readonly #makers = new Set(['createRequire']);
  readonly #requires = new Set(['require']);

  constructor(program: AstNode) {
    for (const node of nodesOf(program)) {
      if (node.type === 'ImportSpecifier' && nameOf(childOf(node, 'imported')) === 'createRequire')
        this.#makers.add(nameOf(childOf(node, 'local')));
    }
    for (const node of nodesOf(program)) {
      if (node.type === 'VariableDeclarator' && this.#makes(childOf(node, 'init')))
        this.#requires.add(nameOf(childOf(node, 'id')));
      if (node.type === 'AssignmentExpression' && this.#makes(childOf(node, 'right')))
        this.#requires.add(nameOf(childOf(node, 'left')));
    }
  }

  isRequire(callee: AstNode | undefined): boolean {
    if (callee?.type === 'Identifier') return this.#requires.has(nameOf(callee));
    // `module.require` means the same.
    const isMember = callee?.type === 'MemberExpression' && nameOf(childOf(callee, 'object')) === 'module';
    return this.#makes(callee) || (isMember && nameOf(childOf(callee, 'property')) === 'require');
  }

  /** Whether a call makes a `require` of another file than the one it stands in: what that loads cannot be read. */
  isForeign(call: AstNode): boolean {
    if (!this.#makes(call)) return false;
    const [base] = childrenOf(call, 'arguments');
    if (base?.type === 'Identifier') return nameOf(base) !== '__filename';
    if (base?.type !== 'MemberExpression') return true;
    const isMeta = childOf(base, 'object')?.type === 'MetaProperty';
    return !isMeta || !['url', 'filename'].includes(nameOf(childOf(base, 'property')));
  }

  #makes(node: AstNode | undefined): boolean {
    if (node?.type !== 'CallExpression') return false;
    const callee = childOf(node, 'callee');
    if (callee?.type === 'Identifier') return this.#makers.has(nameOf(callee));
    return callee?.type === 'MemberExpression' && nameOf(childOf(callee, 'property')) === 'createRequire';
  }
}

function literalText(node: AstNode): string | null {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  const quasis = node.quasis as readonly { readonly value: { readonly cooked: string } }[] | undefined;
  return node.type === 'TemplateLiteral' && quasis?.length === 1 ? (quasis[0]?.value.cooked ?? null) : null;
}

function nameOf(node: AstNode | undefined): string {
  return String(node?.name ?? '');
}
