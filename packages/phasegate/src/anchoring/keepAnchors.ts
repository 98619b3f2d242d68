import { reasonOf } from '@phasegate/core/model';
import type { Anchored, MadeAnchor } from '../runtime/ports.ts';

/** How anchors are kept being made. */
export interface KeepingAnchors {
  readonly everyMs: number;
  readonly project: Anchored;
  /** The file whose last anchor new ones go on from. */
  readonly file?: string | undefined;
  make(): Promise<MadeAnchor>;
  log(text: string): void;
}

/** Makes an anchor now, and one after each interval in which something happened. */
export function keepAnchors({ everyMs, project, file, make, log }: KeepingAnchors): {
  look(): Promise<void>;
  stop(): Promise<void>;
} {
  let seen = Number.NEGATIVE_INFINITY;
  let round: Promise<void> | undefined;

  async function lookOnce(): Promise<void> {
    // Its own note is nothing that happened.
    if ((await project.feed.newest()) === seen) return;
    // Nor is that of another server, which each would answer with one of its own for ever.
    if (!(await project.server.isOnDuty())) return;
    const { report, given, failed } = await make();
    const [first] = report.findings;
    if (first !== undefined) {
      log(
        report.onlyGiven === true
          ? `no anchor was made: the last anchor in \`${file ?? ''}\` does not have the project's signature; the audit itself verifies: name another file in the config, or see who changed this one`
          : `the audit is broken, and no anchor was made of it: ${first.message}${afterRestore(first.message)}`,
      );
    }
    if (report.anchor !== undefined && report.unproven !== undefined) {
      log(
        'an anchor was made, but the one before it could not be checked, as the archive of a run is not there, or is not what it was: see `phasegate audit verify --anchor FILE`',
      );
    }
    for (const reason of failed) log(reason);
    // What this server cannot reach another may, which looks with its own next interval.
    if (failed.length > 0) project.server.giveUpDuty();
    // What nobody has is tried again, also when nothing happens any more.
    if (failed.length === 0 || given.length > 0) seen = await project.feed.newest();
  }

  /** One at a time: a large audit takes a while. */
  function look(): Promise<void> {
    round ??= lookOnce()
      .catch((error: unknown) => {
        project.server.giveUpDuty();
        log(`no anchor was made: ${reasonOf(error)}`);
      })
      .finally(() => {
        round = undefined;
      });
    return round;
  }

  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  void look();
  return {
    look,
    async stop() {
      clearInterval(timer);
      await round;
    },
  };
}

/** Anchors that are newer than a backup do not fit what was restored, and never will. */
function afterRestore(message: string): string {
  if (!message.includes('anchor')) return '';
  return '; if a human restored an older backup, keep the old anchors under another name, and a new file begins';
}
