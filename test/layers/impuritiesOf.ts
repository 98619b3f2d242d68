import type { Finding } from './finding.ts';
import { importsOf } from './importsOf.ts';
import type { Layers } from './layers.ts';
import { roomOf } from './roomOf.ts';
import { type Token, tokensOf } from './tokensOf.ts';

/** Uses of Node, the clock, chance or the network in a room that has to do without them. */
export function impuritiesOf(file: string, source: string, layers: Layers): readonly Finding[] {
  const room = roomOf(file, layers);
  const kind = room === null ? undefined : layers.rooms[room]?.kind;
  if (kind === undefined) return [];
  const node = importsOf(source)
    .filter((found) => found.specifier.startsWith('node:'))
    .map((found) => impure(file, found.line, `imports \`${found.specifier}\``));
  return kind === 'pure' ? [...node, ...globalsOf(file, tokensOf(source), layers)] : node;
}

function globalsOf(file: string, tokens: readonly Token[], layers: Layers): readonly Finding[] {
  const findings: Finding[] = [];
  tokens.forEach((token, at) => {
    if (isMemberOrKey(tokens, at)) return;
    const dotted = tokens[at + 1]?.text === '.' ? `${token.text}.${tokens[at + 2]?.text}` : token.text;
    const name = layers.impureGlobals.find((global) => global === token.text || global === dotted);
    if (name !== undefined) findings.push(impure(file, token.line, `uses \`${name}\``));
  });
  return findings;
}

/** `run.process` and `{ process: … }` are names of our own, not the global. */
function isMemberOrKey(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]?.text ?? '';
  const after = tokens[at + 1]?.text ?? '';
  if (tokens[at]?.literal !== null || before === '.' || before === '?.') return true;
  const keyStarts = ['{', ',', ';', 'readonly'].includes(before);
  return keyStarts && (after === ':' || (after === '?' && tokens[at + 2]?.text === ':'));
}

function impure(file: string, line: number, what: string): Finding {
  return { rule: 'impure', where: `${file}:${line}`, message: `${what}; pass the fact in instead` };
}
