import { oneLine } from '@phasegate/core/model';
import { encodePassages } from '@phasegate/wire';
import type { StandardsAnswer, StandardsResult } from '../../../runtime/ports.ts';
import type { CliCommand } from '../command.ts';
import type { Paint } from '../paint.ts';
import { usageError } from '../usage.ts';

/** `phasegate search`: passages of the documentation that answer a question. */
export const search: CliCommand = {
  usage: ['search QUERY [--terms a,b] [--phase N] [--tag T…] [-n 5]'],
  details:
    'The index is brought up to date first. Search goes by words: name in `--terms` the technical words and synonyms the right document is likely to contain.',
  examples: [
    'phasegate search "how do we roll back a release"',
    'phasegate search "the call never returns" --terms timeout,deadline,hang',
    'phasegate search "evidence" --phase 2 --tag checkpoint --json',
  ],
  options: {
    terms: { type: 'texts', value: 'A,B', summary: 'words the answer would use, parted by commas' },
    phase: { type: 'text', value: 'N', summary: 'only documents of this phase' },
    tag: {
      type: 'texts',
      value: 'T',
      summary: 'only documents with this tag, or with one of several',
    },
    results: { type: 'text', short: 'n', value: 'N', summary: 'how many passages (default: 5)' },
  },
  positionals: ['QUERY…'],
  server: 'ignored',
  async run({ args, out, project }) {
    const { standards } = await project();
    const limit = whole(args.text('results'), '-n');
    const phase = whole(args.text('phase'), '--phase');
    const tags = args.texts('tag').flatMap(parts);
    const terms = args.texts('terms').flatMap(parts);
    try {
      const answer = await standards.search({
        query: args.positionals.join(' '),
        ...(terms.length === 0 ? {} : { terms }),
        ...(tags.length === 0 ? {} : { tags }),
        ...(phase === undefined ? {} : { phase }),
        ...(limit === undefined ? {} : { limit }),
      });
      await out.result(encodePassages(answer), () => textOf(answer, out.paint));
      if (!out.json && answer.hint !== undefined)
        await out.log(`${out.paint.yellow('hint:')} ${answer.hint}`);
    } finally {
      await standards.close();
    }
    return 0;
  },
};

function parts(list: string): readonly string[] {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function whole(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usageError(`\`${option}\` takes a whole number, not \`${text}\``);
}

function textOf({ results, lowConfidence }: StandardsAnswer, paint: Paint): string {
  if (results.length === 0) return 'nothing found';
  const passages = results.map((result) => passage(result, paint));
  return [...(lowConfidence ? [paint.yellow('probably not what you look for')] : []), ...passages].join(
    '\n\n',
  );
}

function passage(
  { file, line, title, section, content, relevanceScore, changedSinceAccepted }: StandardsResult,
  paint: Paint,
): string {
  const changed = changedSinceAccepted === true ? `  ${paint.yellow('changed since accepted')}` : '';
  const place = section === title ? title : `${title} > ${section}`;
  const head = `${paint.cyan(`${oneLine(file)}:${line}`)}  ${place}  ${paint.dim(relevanceScore.toFixed(2))}${changed}`;
  return `${head}\n${content.replaceAll(/^(?=.)/gm, '  ')}`;
}
