import { type Arrow, arrowsOf } from './arrowsOf.ts';
import { cyclesOf } from './cyclesOf.ts';
import type { Finding } from './finding.ts';
import { impuritiesOf } from './impuritiesOf.ts';
import { type House, isSource, type Layers } from './layers.ts';
import { roomOf, roomsOf } from './roomOf.ts';

/** Everything wrong with the house. Arrows come from the sources alone; `layers.json` only says which are allowed. */
export function checkLayers(house: House, layers: Layers): readonly Finding[] {
  const { arrows, findings } = arrowsOf(house);
  const sources = [...house.files.keys()].filter(isSource);
  return [
    ...findings,
    ...forbiddenArrows(arrows, layers),
    ...cyclesOf(arrows).map((cycle) => ({
      rule: 'cycle' as const,
      where: cycle[0] ?? '',
      message: `these files import each other: ${cycle.join(' → ')}`,
    })),
    ...sources.flatMap((file) => impuritiesOf(file, house.files.get(file) ?? '', layers)),
    ...[...house.files.keys()].flatMap((file) => namesAndLength(file, house.files.get(file) ?? '', layers)),
    ...rooms(sources, layers),
  ];
}

function forbiddenArrows(arrows: readonly Arrow[], layers: Layers): readonly Finding[] {
  const used = new Set<number>();
  const findings: Finding[] = [];
  for (const arrow of arrows) {
    const from = roomOf(arrow.from, layers);
    const to = roomOf(arrow.to, layers);
    // A file without a room is a finding of its own.
    if (from === null || to === null || from === to) continue;
    const sees = layers.rooms[from]?.sees ?? [];
    if (sees === '*' || sees.includes(to)) continue;
    const excused = layers.exceptions.findIndex(
      (exception) => exception.from === arrow.from && exception.to === to && exception.only === arrow.kind,
    );
    if (excused >= 0) {
      used.add(excused);
      continue;
    }
    findings.push({
      rule: 'arrow',
      where: `${arrow.from}:${arrow.line}`,
      message: `room \`${from}\` may not import \`${to}\` (${arrow.kind} import of ${arrow.to})`,
    });
  }
  layers.exceptions.forEach((exception, index) => {
    if (used.has(index)) return;
    const message = `the exception \`${exception.from}\` → \`${exception.to}\` is not needed`;
    findings.push({ rule: 'stale_exception', where: 'layers.json', message });
  });
  return findings;
}

function namesAndLength(file: string, source: string, layers: Layers): readonly Finding[] {
  const findings: Finding[] = [];
  const words = file
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  for (const word of layers.forbiddenNames.filter((name) => words.includes(name))) {
    findings.push({ rule: 'name', where: file, message: `\`${word}\` says nothing about what is inside` });
  }
  const lines = source.trimEnd().split('\n').length;
  if (lines > layers.maxLines) {
    findings.push({
      rule: 'length',
      where: file,
      message: `${lines} lines, and the limit is ${layers.maxLines}`,
    });
  }
  return findings;
}

function rooms(sources: readonly string[], layers: Layers): readonly Finding[] {
  const homeless = sources
    .filter((file) => roomOf(file, layers) === null)
    .map((file) => ({
      rule: 'no_room' as const,
      where: file,
      message: 'no room of `layers.json` holds this file',
    }));
  const empty = roomsOf(layers).flatMap(({ name, holds }) =>
    sources.some((file) => file === holds || file.startsWith(`${holds}/`))
      ? []
      : [
          {
            rule: 'empty_room' as const,
            where: 'layers.json',
            message: `room \`${name}\`: \`${holds}\` has no source`,
          },
        ],
  );
  const unknown = Object.entries(layers.rooms).flatMap(([name, room]) =>
    (room.sees === '*' ? [] : room.sees)
      .filter((seen) => !Object.hasOwn(layers.rooms, seen))
      .map((seen) => ({
        rule: 'unknown_room' as const,
        where: 'layers.json',
        message: `room \`${name}\` sees \`${seen}\`, which is not a room`,
      })),
  );
  return [...homeless, ...empty, ...unknown];
}
