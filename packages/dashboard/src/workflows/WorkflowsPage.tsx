/** Not written yet. */
export function WorkflowsPage() {
  return <h1>WorkflowsPage</h1>;
}
