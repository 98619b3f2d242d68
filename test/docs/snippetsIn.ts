/** A whole workflow shown in a document. */
export interface Snippet {
  readonly language: 'yaml' | 'ts';
  readonly text: string;
  /** The line its fence stands in, from 1. */
  readonly line: number;
}

const FENCE = /^```(yaml|ts)\n([\s\S]*?)^```$/gm;

/**
 * The fenced blocks that are whole workflows: YAML that starts with `workflow:`, TypeScript that imports from
 * `@phasegate/sdk`. Anything else is a fragment.
 */
export function snippetsIn(markdown: string): readonly Snippet[] {
  return [...markdown.matchAll(FENCE)].flatMap((match): readonly Snippet[] => {
    const [, language, text = ''] = match;
    const line = markdown.slice(0, match.index).split('\n').length;
    if (language === 'yaml' && text.startsWith('workflow:')) return [{ language, text, line }];
    if (language === 'ts' && text.includes("from '@phasegate/sdk'")) return [{ language, text, line }];
    return [];
  });
}
