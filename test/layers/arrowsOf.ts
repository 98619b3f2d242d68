import { posix } from 'node:path';
import type { Finding } from './finding.ts';
import { type Import, importsOf } from './importsOf.ts';
import { type House, isSource, type Package } from './layers.ts';

/** One file imports another. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly kind: Import['kind'];
  readonly line: number;
}

/** Every arrow between sources, and every import that leads nowhere or to an undeclared package. */
export function arrowsOf(house: House): {
  readonly arrows: readonly Arrow[];
  readonly findings: readonly Finding[];
} {
  const arrows: Arrow[] = [];
  const findings: Finding[] = [];
  for (const [from, source] of house.files) {
    if (!isSource(from)) continue;
    for (const found of importsOf(source)) {
      const resolved = resolve(from, found.specifier, house);
      if (resolved.kind === 'file') {
        arrows.push({ from, to: resolved.file, kind: found.kind, line: found.line });
      }
      if (resolved.kind === 'wrong') {
        findings.push({ rule: resolved.rule, where: `${from}:${found.line}`, message: resolved.message });
      }
    }
  }
  return { arrows, findings };
}

type Resolved =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'outside' }
  | { readonly kind: 'wrong'; readonly rule: 'undeclared' | 'unresolved'; readonly message: string };

function resolve(from: string, specifier: string, house: House): Resolved {
  if (specifier.startsWith('.')) return resolveRelative(from, specifier, house);
  if (specifier.startsWith('node:')) return { kind: 'outside' };
  const home = house.packages.find((candidate) => from.startsWith(`${candidate.folder}/`));
  const carried = home?.carried?.[specifier];
  if (carried !== undefined && house.files.has(carried)) return { kind: 'file', file: carried };
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (home === undefined || !home.dependencies.includes(name)) {
    const message = `\`${name}\` is not a dependency of \`${home?.name ?? from}\``;
    return { kind: 'wrong', rule: 'undeclared', message };
  }
  const ours = house.packages.find((candidate) => candidate.name === name);
  return ours === undefined ? { kind: 'outside' } : resolveEntry(ours, specifier, house);
}

function resolveRelative(from: string, specifier: string, house: House): Resolved {
  // Styles are looked at by a browser, and import nothing of ours.
  if (specifier.endsWith('.css')) return { kind: 'outside' };
  const file = posix.join(posix.dirname(from), specifier);
  if (house.files.has(file)) return { kind: 'file', file };
  return {
    kind: 'wrong',
    rule: 'unresolved',
    message: `\`${specifier}\` is not a source of this repository`,
  };
}

function resolveEntry(ours: Package, specifier: string, house: House): Resolved {
  const key = `.${specifier.slice(ours.name.length)}`;
  const file = ours.entries[key];
  if (file !== undefined && house.files.has(file)) return { kind: 'file', file };
  return { kind: 'wrong', rule: 'unresolved', message: `\`${ours.name}\` exports no \`${key}\`` };
}
