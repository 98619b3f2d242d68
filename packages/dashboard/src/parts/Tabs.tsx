import { type KeyboardEvent, type ReactNode, useId } from 'react';

/** Parts of a page, one at a time; arrows go from one to the next. */
export function Tabs<Name extends string>({
  names,
  chosen,
  choose,
  children,
}: {
  readonly names: readonly Name[];
  readonly chosen: Name;
  readonly choose: (name: Name) => void;
  readonly children: ReactNode;
}) {
  const id = useId();
  const press = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = names[(names.indexOf(chosen) + step + names.length) % names.length];
    if (next === undefined) return;
    choose(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <div className="stack">
      <div className="tabs" role="tablist" onKeyDown={press}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => choose(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </div>
  );
}
