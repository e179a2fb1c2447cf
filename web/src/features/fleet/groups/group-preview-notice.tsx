/** What the dialogs of a group say of what will start and stop. */
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import type { NodeGroup } from '../../../../../schemas/api/fleet/node-groups.ts';
import type { GroupRule } from '../../../../../schemas/node-groups/membership.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { plural } from '../../../ui/text/format.ts';
import { listed } from '../nodes/nodes-form.tsx';
import { foretellGroup, type GroupForetold, type OnNodes } from './group-preview.ts';

/** Null until it is known what there is. What is typed must not wait for thousands of nodes. */
export function useForetold(before: NodeGroup | null, after: GroupRule | null): GroupForetold | null {
  const { environment } = usePlace();
  const nodes = useQuery(queries.nodes(environment.id)).data;
  const groups = useQuery(queries.nodeGroups(environment.id)).data;
  const pipelines = useQuery(queries.pipelines(environment.id)).data;
  const typed = useDeferredValue(JSON.stringify(after));
  return useMemo(() => {
    if (!nodes || !groups || !pipelines) return null;
    const rule: GroupRule | null = JSON.parse(typed);
    return foretellGroup(before, rule, { nodes, groups, pipelines });
  }, [before, typed, nodes, groups, pipelines]);
}

const placed = (pipelines: readonly OnNodes[]): string =>
  listed(pipelines.map(({ pipeline, nodes }) => `${pipeline} on ${plural(nodes, 'node')}`));

/** Names of a few nodes, and of many how many. */
const MAX_NODE_NAMES = 3;
const named = (names: readonly string[]): string =>
  names.length <= MAX_NODE_NAMES ? listed(names) : plural(names.length, 'node');

function inWords({ joins, leaves, starts, stops, unsure }: GroupForetold, changes: boolean): string[] {
  return [
    changes && joins.length > 0 ? `Joins: ${named(joins)}.` : '',
    changes && leaves.length > 0 ? `Leaves: ${named(leaves)}.` : '',
    starts.length > 0 ? `Starts ${placed(starts)}.` : '',
    stops.length > 0 ? `Stops ${placed(stops)}.` : '',
    unsure > 0
      ? `May start or stop more on ${plural(unsure, 'node')}: ${unsure === 1 ? 'it has a label of its own' : 'they have labels of their own'} under a key that is given here, and ${unsure === 1 ? 'keeps it' : 'keep them'} where the UI set it.`
      : '',
    starts.length + stops.length + unsure === 0 ? 'No pipeline starts or stops by this.' : '',
  ].filter(Boolean);
}

interface ForetoldProps {
  foretold: GroupForetold | null;
  /** The group was there before: nodes come and go. */
  changes: boolean;
}

export const ForetoldNotice = ({ foretold, changes }: ForetoldProps) => (
  <div
    className="notice foretold"
    role="status"
    data-tone={foretold && foretold.stops.length + foretold.unsure > 0 ? 'held' : 'moving'}
  >
    <Icon name="pipelines" size={14} />
    <span>
      {foretold
        ? inWords(foretold, changes).map((text) => <span key={text}>{text} </span>)
        : 'Looking up what would start and stop…'}
    </span>
  </div>
);
