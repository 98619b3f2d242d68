// Folders of Markdown as workflows: static, dynamic, or looked up in the documentation.

export type { MarkdownLoaderOptions } from './folder/loadMarkdown.ts';
export { createMarkdownLoader } from './folder/markdownLoader.ts';
