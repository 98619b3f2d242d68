/** Not written yet. */
export function AgentsPage() {
  return <h1>AgentsPage</h1>;
}
