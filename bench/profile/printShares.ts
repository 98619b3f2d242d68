import { print } from '../transitions/measure.ts';
import type { Share } from './byPlace.ts';

/** Two tables: rooms, then functions, each with its share and its microseconds for one of what was counted. */
export function printShares(
  { rooms, functions }: { readonly rooms: readonly Share[]; readonly functions: readonly Share[] },
  all: { readonly microseconds: number; readonly count: number },
): void {
  const line = ({ name, self }: Share) => {
    const share = (self / all.microseconds) * 100;
    if (share < 0.5) return;
    print(`  ${share.toFixed(1).padStart(5)}%   ${(self / all.count).toFixed(1).padStart(7)}   ${name}`);
  };
  print('\n   share   µs each   room');
  rooms.forEach(line);
  print('\n   share   µs each   function');
  functions.forEach(line);
  print('');
}
