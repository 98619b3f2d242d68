import type { FileSystems } from './fileSystems.ts';
import type { Manifest } from './manifest.ts';

/**
 * Tells files that cannot have been written to without another date since a measure. Where a process maps a file into its
 * memory after it was measured, the file systems listed here date the first write to each page. So only a mapping that was
 * there when the file was read can hide a write, and such a file is never said to be settled. Others may hide any.
 */
export function datedWrites(
  before: Manifest | null,
  systems: FileSystems,
): (device: bigint, place: string) => boolean {
  if (before?.mapped !== true) return () => false;
  return (device, place) => {
    const type = systems.typeOf(device, place);
    return type !== null && DATING.has(type);
  };
}

/**
 * By the numbers of the Linux kernel: ext2 to ext4, XFS, Btrfs, F2FS. Memory (tmpfs), networks, FUSE and ZFS date such
 * writes late or never, and an overlay may have any of them below.
 */
const DATING: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010]);
