import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { plural } from '../../../ui/text/format.ts';
import { listed } from '../nodes/nodes-form.tsx';

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
      <Notice icon="warning" tone="held" role="status">
        {only.name}: {why.get(only.id)}.
      </Notice>
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
