/** Not written yet. */
export function WorkflowPage() {
  return <h1>WorkflowPage</h1>;
}
