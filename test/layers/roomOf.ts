import type { Layers } from './layers.ts';

/** The room a file is in: the one that holds the longest path to it, or null. */
export function roomOf(file: string, layers: Layers): string | null {
  let best: { readonly name: string; readonly holds: string } | null = null;
  for (const room of roomsOf(layers)) {
    const inside = file === room.holds || file.startsWith(`${room.holds}/`);
    if (inside && room.holds.length > (best?.holds.length ?? 0)) best = room;
  }
  return best?.name ?? null;
}

/** Every path of every room. */
export function roomsOf(layers: Layers): readonly { readonly name: string; readonly holds: string }[] {
  return Object.entries(layers.rooms).flatMap(([name, room]) => room.holds.map((holds) => ({ name, holds })));
}
