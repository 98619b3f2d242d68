import type { Template, TemplateFile } from './template.ts';

/** The same workflow in a file of its own below `workflows/`, where another one has the place it is written to. */
export function besideOthers(template: Template): Template {
  const file = `${template.name}.workflow.yaml`;
  const path = `workflows/${file}`;
  const moved = ({ path: from, text }: TemplateFile): TemplateFile => ({
    path: from === template.path ? path : `workflows/${from.replace(/^agent_workflow/u, template.name)}`,
    // What contract tests try to write is a path of the project, and stays one that nobody may write.
    text: from.endsWith('.contract.yaml')
      ? text
      : text
          .replace('$schema=./', '$schema=../')
          .replaceAll(template.path, file)
          .replaceAll('agent_workflow.md', `${template.name}.md`),
  });
  return {
    ...template,
    path,
    definition: (tests) => template.definition(tests).map(moved),
    beside: (tests) => template.beside(tests).map(moved),
  };
}
