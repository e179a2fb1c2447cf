import type { NodeSummary } from '../../../../schemas/api/fleet.ts';
import { plural } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { listed } from './nodes-form.tsx';

/** The chosen nodes that are not updated, and why. */
export const LeftOut = ({
  nodes,
  why,
}: {
  nodes: readonly NodeSummary[];
  why: ReadonlyMap<string, string>;
}) => {
  const left = nodes.filter(({ id }) => why.has(id));
  const [only] = left;
  if (!only) return null;
  if (nodes.length === 1) {
    return (
      <p className="notice" data-tone="held" role="status">
        <Icon name="warning" size={14} />
        <span>
          {only.name}: {why.get(only.id)}.
        </span>
      </p>
    );
  }
  const byReason = Map.groupBy(left, ({ id }) => why.get(id) ?? '');
  return (
    // Where nothing is left to do, the reason must be in sight.
    <details className="left-out" open={left.length === nodes.length || undefined}>
      <summary>{plural(left.length, 'node is', 'nodes are')} left out</summary>
      <ul>
        {[...byReason].map(([reason, those]) => (
          <li key={reason}>
            {listed(those.map(({ name }) => name))}: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
};
