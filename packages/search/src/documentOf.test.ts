import { describe, expect, test } from 'vitest';
import { documentOf } from './documentOf.ts';

describe('documentOf', () => {
  test('front matter gives title, phase, tags, workflow and hooks', async () => {
    const document = await documentOf(
      'docs/a.md',
      '---\ntitle: Checkpoint\nphase: 2\ntags: [Evidence, checkpoint]\nworkflow: w\nkeywords: alpha, beta\nquestions: [Why?]\n---\n# Heading\n\nText.\n',
    );

    expect(document).toMatchObject({
      title: 'Checkpoint',
      phase: 2,
      tags: ['evidence', 'checkpoint'],
      workflows: ['w'],
      closed: true,
      warnings: [],
    });
    expect(document.hooks).toContain('alpha, beta');
    expect(document.hooks).toContain('Why?');
    expect(document.chunks[0]).toMatchObject({ line: 9, body: '# Heading\n\nText.' });
  });

  test('without front matter, phase, tags and workflow come from the path and never from the text', async () => {
    const document = await documentOf(
      'standards/audit/phases/3/look.md',
      '# Phase 7\n\nEvidence for phase 9.\n',
    );

    expect(document).toMatchObject({ phase: 3, tags: ['audit'], workflows: ['audit'], closed: false });
  });

  test('phase 0 is a phase', async () => {
    expect((await documentOf('docs/a.md', '---\nphase: 0\n---\nText\n')).phase).toBe(0);
  });

  test('front matter without end is a warning and its text is kept', async () => {
    const document = await documentOf('docs/a.md', '---\ntags: [a]\n\n# Title\n\nText.\n');

    expect(document.warnings).toEqual([{ line: 1, message: expect.stringContaining('no end') }]);
    expect(document.title).toBe('Title');
    expect(document.chunks.map(({ body }) => body).join('\n')).toContain('tags: [a]');
  });

  test.each([
    ['broken YAML', '---\ntags: [a\n---\n# T\n\nText.\n', 'not YAML'],
    ['a phase that is not a number', '---\nphase: soon\n---\n# T\n\nText.\n', 'not a whole number'],
  ])('%s is a warning and nothing is lost', async (_, text, message) => {
    const document = await documentOf('docs/a.md', text);

    expect(document.warnings).toEqual([{ line: 1, message: expect.stringContaining(message) }]);
    expect(document.phase).toBeNull();
    expect(document.chunks.map(({ body }) => body).join('\n')).toContain('Text.');
  });

  test('a rule at the top of a page is not front matter', async () => {
    const document = await documentOf('docs/a.md', '---\n\n# T\n\nText.\n\n---\n\nMore.\n');

    expect(document).toMatchObject({ title: 'T', warnings: [] });
    expect(document.chunks[0]?.body).toContain('More.');
  });

  test('a line of keywords and a list of questions weigh more than text', async () => {
    const { hooks } = await documentOf(
      'docs/a.md',
      '# T\n\n**Keywords for search**: canary, rollout\n\n## Questions This Answers\n\n- "How do I ship?"\n',
    );

    expect(hooks).toContain('canary, rollout');
    expect(hooks).toContain('How do I ship?');
  });

  test('a byte order mark and CRLF are no part of the text', async () => {
    const document = await documentOf('docs/a.md', '\uFEFF---\r\ntags: a\r\n---\r\n# T\r\n\r\nText.\r\n');

    expect(document).toMatchObject({ title: 'T', tags: ['a'] });
    expect(document.chunks[0]?.body).toBe('# T\n\nText.');
  });
});
