import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  realpathSync,
  writeSync,
} from 'node:fs';
import { dirname, isAbsolute, relative } from 'node:path';
import { own, PhasegateError } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import { bytesOf, NotRegular, readRegular } from '../files/readRegular.ts';

/** The anchors in a file, oldest first. Empty lines and those that begin with `#` say nothing. */
export function readAnchorFile(file: string): readonly string[] {
  try {
    return onlyAnchors(file, readRegular(file, { most: LARGEST, links: 'follow' }));
  } catch (cause) {
    if (cause instanceof PhasegateError) throw cause;
    const reason = cause instanceof NotRegular ? `it ${cause.message}` : reasonOf(cause);
    throw new PhasegateError('file_unreadable', `the anchors in \`${file}\` cannot be read: ${reason}`, {
      cause,
    });
  }
}

/** Throws where no anchor can be added to a file, before one is made for it. Makes nothing. */
export function requireAnchorFile(file: string, forbidden: readonly string[]): void {
  requireOutside(file, forbidden);
  try {
    onlyAnchors(file, readRegular(file, { most: LARGEST, links: 'refuse' }));
    accessSync(file, constants.W_OK);
  } catch (cause) {
    if (cause instanceof PhasegateError) throw cause;
    if (cause instanceof NotRegular) throw unwritable(file, `it ${cause.message}`);
    if (own(cause, 'code') !== 'ENOENT') throw unwritable(file, reasonOf(cause));
    requireFolder(file);
  }
}

/** The anchors in a text. */
export function anchorsIn(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/**
 * Adds an anchor to a file, which is made where it is not there. INVARIANT: a config names the file, so nothing is added to
 * one that holds anything else, nor to one an agent may write because it is in the workspace.
 */
export function addToFile(file: string, anchor: string, forbidden: readonly string[]): void {
  requireOutside(file, forbidden);
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  let opened: number;
  try {
    opened = openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (cause) {
    throw unwritable(file, reasonOf(cause));
  }
  try {
    if (!fstatSync(opened).isFile()) throw unwritable(file, 'it is not a file');
    // What was opened is what is read: another file may have come in its place.
    onlyAnchors(file, bytesOf(opened, 1024, LARGEST));
    writeSync(opened, `${anchor}\n`);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

function onlyAnchors(file: string, bytes: Buffer): readonly string[] {
  const found = anchorsIn(bytes.toString('utf8'));
  if (found.every((line) => ANCHOR.test(line))) return found;
  throw new PhasegateError('file_unreadable', `\`${file}\` holds something else than anchors`, {
    hint: OTHER,
  });
}

const ANCHOR = /^[\w-]+\.[\w-]+$/;
/** A century of hours. */
const LARGEST = 512 * 1024 * 1024;

function requireOutside(file: string, forbidden: readonly string[]): void {
  if (!isAbsolute(file)) throw unwritable(file, 'its path must begin with `/`');
  let folder: string;
  try {
    folder = realpathSync(dirname(file));
  } catch (cause) {
    throw unwritable(file, reasonOf(cause));
  }
  for (const place of forbidden) {
    const way = relative(place, folder);
    if (way === '' || !(way.startsWith('..') || isAbsolute(way))) {
      throw unwritable(file, `it is in \`${place}\`, and what is kept there goes with what it is to prove`);
    }
  }
}

function requireFolder(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unwritable(file, reasonOf(cause));
  }
}

function unwritable(file: string, reason: string): PhasegateError {
  return new PhasegateError('file_unreadable', `no anchor can be added to \`${file}\`: ${reason}`, {
    hint: OTHER,
  });
}

const OTHER =
  'name a file with anchors, or one that is not there yet in a folder that is, outside of the project';
