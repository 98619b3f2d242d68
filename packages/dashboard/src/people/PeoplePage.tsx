/** Not written yet. */
export function PeoplePage() {
  return <h1>PeoplePage</h1>;
}
