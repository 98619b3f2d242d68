const PLACEHOLDER = /\[([A-Z][A-Z0-9_]*)\](?!\()/g;

/** Names of the placeholders of a template, each once. A Markdown link such as `[API](…)` is none. */
export function placeholdersIn(template: string): readonly string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map((match) => match[1] as string))];
}

/** The template with its placeholders filled. What is put in is not looked at again: a value is not a template. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(PLACEHOLDER, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? (values[name] as string) : placeholder,
  );
}
