import { own } from '../json.ts';

/** Why the system refused something, and what to do about it. */
export interface SystemReason {
  /** Goes behind "cannot be read: ". */
  readonly reason: string;
  readonly hint: string;
}

/** What the system's code for a failure means, in words; null for what is not a failure of the system, or not known. */
export function systemReason(error: unknown): SystemReason | null {
  const code = own(error, 'code');
  if (typeof code !== 'string' || !Object.hasOwn(REASONS, code)) return null;
  const [reason, hint] = REASONS[code] as readonly [string, string];
  return { reason, hint };
}

/** The same where only the words are wanted; what is not known is said as it came. */
export function reasonOf(error: unknown): string {
  const known = systemReason(error)?.reason;
  if (known !== undefined) return known;
  if (error instanceof Error) return error.message;
  return String(own(error, 'code') ?? error);
}

const LOOK = 'look at its owner and its permissions with `ls -ld`, or run this as the user it belongs to';
const LIMIT = 'end other programs, or raise the limit with `ulimit -n`, and try again';
const ROOM = 'make room and try again';
const NAME = 'name another place';

const REASONS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EACCES: ['you do not have the permission', LOOK],
  EPERM: ['you do not have the permission', LOOK],
  EROFS: ['it is on a read-only file system', NAME],
  ENOSPC: ['the disk is full', ROOM],
  EDQUOT: ['your share of the disk is used up', ROOM],
  EFBIG: ['it would become larger than is allowed', ROOM],
  ENOENT: ['there is no such file or folder', 'look at the path'],
  ENOTDIR: ['a file stands where a folder is needed', 'look at the path'],
  EISDIR: ['it is a folder', 'name a file'],
  EEXIST: ['it is there already', NAME],
  ELOOP: ['it is a symlink, or symlinks lead in a circle', 'name the place itself'],
  EMFILE: ['too many files are open', LIMIT],
  ENFILE: ['too many files are open', LIMIT],
  ENAMETOOLONG: ['its name is too long', 'give it a shorter one'],
  EBUSY: ['it is in use', 'end the program that uses it, and try again'],
  EIO: ['the disk reported a fault', 'look at the disk, and try again'],
  EBADF: ['it is not open', 'open it first'],
};
