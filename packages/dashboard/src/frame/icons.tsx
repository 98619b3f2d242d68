/** Drawings of the bar; each stands beside its word and says nothing by itself. */
export const ICONS = {
  runs: 'M4 6h16M4 12h16M4 18h10',
  decisions: 'M4 13l5 5L20 6',
  workflows: 'M6 4v6a4 4 0 0 0 4 4h8M6 4a2 2 0 1 0 0 .1M18 14a2 2 0 1 0 0 .1M6 14v6',
  agents: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0',
  audit: 'M7 3h10v18l-5-3-5 3zM10 8h4M10 12h4',
  people:
    'M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 20a6.5 6.5 0 0 1 13 0M16 5.5a3 3 0 0 1 0 5.5M17.5 14a6.5 6.5 0 0 1 4 6',
} as const;

/** One of them. */
export function Icon({ name }: { readonly name: keyof typeof ICONS }) {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden="true">
      <path d={ICONS[name]} strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
