import { useNow } from '../text/clock.ts';
import { formatExact, formatRelative } from '../text/format.ts';

/** A relative time with the exact one on hover. */
export const Time = ({ at }: { at: Date | null }) => {
  const now = useNow();
  if (!at) return <span className="muted">never</span>;
  return (
    <time dateTime={at.toISOString()} data-tip={formatExact(at)} className="nowrap">
      {formatRelative(at, now)}
    </time>
  );
};

/** Beside rates that could not be read just now. */
export const AsOf = ({ rates: { asOf } }: { rates: { asOf: Date | null } }) => {
  const now = useNow();
  return asOf && <span className="muted"> as of {formatRelative(asOf, now)}</span>;
};
