import { type FoundWorkflow, propertyOf, stepObject } from './findWorkflow.ts';
import { type AstNode, childrenOf } from './parseModule.ts';

type Path = readonly (string | number)[];

/** What a part of the draft is called in code. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  id: ['id', 'name', 'type'],
  title: ['name', 'title'],
  name: ['title', 'name'],
  entry: ['initialStep', 'entryPoint'],
  label: ['name'],
  message: ['error', 'message'],
  ref: ['check', 'handler'],
  work: ['command', 'handler'],
  render: ['body'],
  instructions: ['instructions', 'actions', 'body'],
  fields: ['requiredEvidence'],
  artifacts: ['requiredArtifacts'],
  parallel: ['parallelKey', 'parallel'],
  key: ['parallelKey'],
  tokenSeconds: ['phaseTokens'],
  next: ['next', 'nextStep'],
};

/** The offset at which a part of the draft is written, as near as the source shows it. */
export function locateInSource(found: FoundWorkflow, path: Path, offset?: number): number {
  const start = (found.call ?? found.calls[0])?.start ?? 0;
  const node = nodeAt(found, path);
  if (node === undefined) return start;
  // Only a text without escapes has its characters where they are counted.
  const isPlain = typeof node.value === 'string' && String(node.raw).length === node.value.length + 2;
  return offset !== undefined && isPlain ? node.start + 1 + offset : node.start;
}

function nodeAt(found: FoundWorkflow, path: Path): AstNode | undefined {
  const [head, index, ...rest] = path;
  if (head !== 'phases') return deepest(found.definition, path);
  const step = typeof index === 'number' ? found.steps?.[index] : undefined;
  return step && (deepest(stepObject(step), rest) ?? step);
}

/** Walks as deep as the source is written out. */
function deepest(node: AstNode | undefined, path: Path): AstNode | undefined {
  let here = node;
  let rest = path;
  while (here !== undefined && rest.length > 0) {
    const [next, used] = step(here, rest);
    if (next === undefined) return here === node ? undefined : here;
    here = next;
    rest = rest.slice(used);
  }
  return here;
}

/** The next node on the way, and how many steps of the path it stands for. */
function step(node: AstNode, path: Path): readonly [AstNode | undefined, number] {
  const [head, second] = path;
  if (typeof head === 'number') return [childrenOf(node, 'elements')[head], 1];
  if (head === undefined) return [undefined, 0];
  if (head === 'gates' && typeof second === 'number') {
    const listed = childrenOf(propertyOf(node, 'gates'), 'elements');
    if (listed[second] !== undefined) return [listed[second], 2];
    const single = propertyOf(node, 'gate');
    if (single !== undefined && second === 0) return [single, 2];
    return [propertyOf(node, 'humanGate'), path[2] === 'human' ? 3 : 2];
  }
  // The draft puts outcomes and a condition's text one level deeper than code does.
  if (head === 'outcomes') return path.length === 1 ? [node, 1] : [propertyOf(node, String(second)), 2];
  if (head === 'with' && second === 'condition')
    return [propertyOf(node, 'with') ?? propertyOf(node, 'check'), 2];
  for (const name of [...(NAMES[head] ?? []), head]) {
    const property = propertyOf(node, name);
    if (property !== undefined) return [property, 1];
  }
  return [undefined, 0];
}
