import { encodePassages } from '@phasegate/wire';
import { createPaced } from '../../../limits/paced.ts';
import { numberArgument, textArgument, textsArgument } from '../arguments.ts';
import { type McpTool, READING } from '../tool.ts';

const MOST_RESULTS = 50;
// The index is read in the server itself, which does nothing else meanwhile.
const paced = createPaced({ what: 'searches', waiting: 16 });

/** `search_standards`: passages of the project's documentation. */
export const searchStandards: McpTool = {
  name: 'search_standards',
  title: 'Search the standards',
  description:
    "Search the project's standards and documentation. It matches words: give in `terms` the synonyms, names and technical terms the answer would use, which finds far more than the question alone.",
  input: {
    query: { type: 'string', description: 'what you want to know' },
    terms: {
      type: 'array',
      items: { type: 'string' },
      description: 'synonyms and names the answer would use',
    },
    n_results: { type: 'number', description: 'default 5' },
    filter_phase: { type: 'number', description: 'only documents of this phase' },
    filter_tags: { type: 'array', items: { type: 'string' }, description: 'only documents with these tags' },
  },
  required: ['query'],
  output: {
    type: 'object',
    properties: {
      results: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            content: { type: 'string' },
            file: { type: 'string' },
            line: { type: 'integer' },
            section: { type: 'string' },
            relevance_score: { type: 'number' },
            tokens: { type: 'integer' },
            changed_since_accepted: { type: 'boolean' },
          },
          required: ['content', 'file', 'section', 'relevance_score', 'tokens'],
        },
      },
      total_tokens: { type: 'integer' },
      retrieval_method: { type: 'string' },
      query_time_ms: { type: 'number' },
      low_confidence: { type: 'boolean' },
      hint: { type: 'string' },
      error: { type: 'string' },
      message: { type: 'string' },
    },
  },
  annotations: READING,
  async call(args, { standards, agent = '' }) {
    const limit = numberArgument(args, 'n_results');
    const phase = numberArgument(args, 'filter_phase');
    const tags = textsArgument(args, 'filter_tags');
    const query = {
      query: textArgument(args, 'query'),
      terms: textsArgument(args, 'terms'),
      limit: Math.min(Math.max(Math.round(limit ?? 5), 1), MOST_RESULTS),
      ...(phase === undefined ? {} : { phase }),
      ...(tags.length === 0 ? {} : { tags }),
    };
    const answer = await paced.act(agent, () => standards.search(query));
    const { hint, results, ...measured } = encodePassages(answer);
    return {
      // An agent pays for every token: what a title or a tag says it has from the section and its own filter.
      results: results.map(({ content, file, line, section, relevance_score, tokens, ...more }) => {
        const { changed_since_accepted } = more;
        const changed = changed_since_accepted === undefined ? {} : { changed_since_accepted };
        return { content, file, line, section, relevance_score, tokens, ...changed };
      }),
      ...measured,
      ...(hint === undefined ? {} : { hint }),
    };
  },
};
