import { useEffect, useState } from 'react';
import { between } from './between.ts';

/** How long ago something was, or how soon it will be; the whole time is there for anyone who asks. */
export function Age({ at }: { readonly at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {between(Date.parse(at), now)}
    </time>
  );
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
