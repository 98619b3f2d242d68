import { attestationText } from './range/attestation.ts';
import { joinKnown } from './range/joinKnown.ts';
import { judgeRange } from './range/judgeRange.ts';
import { readPins, writePins } from './range/pinnedKeys.ts';
import { readBundle, writeBundle } from './range/rangeBundle.ts';
import { prefixOf, readRange } from './range/readRange.ts';
import type { Ranges } from './runtime/ports.ts';
import { readingGit } from './workspace/readingGit.ts';

/** Ranges of commits of the repository that a folder is part of. */
export function localRanges(root: string, env: Readonly<Record<string, string | undefined>>): Ranges {
  return {
    read: (words, how) => readRange(readingGit(root, env), words, how),
    judge: async (range, by) => judgeRange(range, by),
    async writeBundle(known, { range, records }) {
      const { project } = await records.keys();
      const prefix = range?.prefix ?? (await prefixOf(readingGit(root, env)));
      const at = new Date().toISOString();
      return writeBundle(known, { range, prefix, project: project[0] ?? '', at, sign: records.sign });
    },
    readBundles: async (files, keys, beside) =>
      joinKnown([...files.map((file) => readBundle(file, keys)), ...(beside === undefined ? [] : [beside])]),
    readPins: async (texts) => readPins(texts),
    writePins: async (keys) => writePins(keys),
    async attest(files, { range, reason, human, records }) {
      const { project } = await records.keys();
      const { name } = human.principal;
      const text = attestationText(files, {
        project: project[0] ?? '',
        human: name,
        reason,
        at: new Date().toISOString(),
        base: range.base,
        head: range.head,
      });
      await records.attest({ human: name, text, signature: human.sign(text) }, files.length);
    },
  };
}
