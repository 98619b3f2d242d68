/** Turns a title into the part of an address that names it. Not written yet: that is the agent's task. */
export function slugify(title) {
  return title;
}
