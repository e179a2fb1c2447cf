import { Link } from 'react-router';
import type { FleetNode } from '../../../../schemas/api/fleet/fleet.ts';
import { paths, UNGROUPED } from '../../app/paths.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { ShortId } from '../../ui/primitives/copyable.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { type SourcedLabel, SourcedLabels } from '../ownership/sourced-labels.tsx';

/** What a node is, and where each of its labels comes from. */
export const NodeFacts = ({ env, node }: { env: string; node: FleetNode }) => (
  <div className="panel">
    <dl className="facts">
      <Fact name="Last heard">
        <Time at={node.lastHeartbeatAt} />
      </Fact>
      <Fact name={node.status === 'UNREACHABLE' ? 'Pipelines that ran' : 'Pipelines running'}>
        <span className="mono">
          {node.pipelinesRunning}/{node.pipelinesDesired}
        </span>
      </Fact>
      <Fact name="Host">{node.host}</Fact>
      <Fact name="System">{node.os ?? 'unknown'}</Fact>
      <Fact name="Agent">
        <span className="mono">{node.agentVersion ?? 'unknown'}</span>
        <span className="muted">
          {' '}
          {node.channel}
          {node.deploymentMode === 'DOCKER' ? ', in a container' : ''}
        </span>
      </Fact>
      <Fact name="Engine">
        <span className="mono">{node.engineVersion ?? 'unknown'}</span>
        {node.engineComponentTypes !== null && (
          <span className="muted"> {node.engineComponentTypes} component types</span>
        )}
        {node.engineProblem !== null && (
          <>
            {' '}
            <Badge tone="held">not supported</Badge>
          </>
        )}
      </Fact>
      <Fact name="Runs as">
        <span className="mono">{node.runningAs ?? 'unknown'}</span>
      </Fact>
      <Fact name="Enrolled">
        <Time at={node.enrolledAt} />
      </Fact>
      <Fact name="Id">
        <ShortId id={node.id} />
      </Fact>
      <Fact name="Groups">
        <NodeGroups env={env} node={node} />
      </Fact>
      <Fact name="Labels">
        <SourcedLabels labels={labelsOf(node)} />
      </Fact>
    </dl>
  </div>
);

const NodeGroups = ({ env, node }: { env: string; node: FleetNode }) => {
  if (node.groups.length === 0) return <Link to={paths.group(env, UNGROUPED)}>none</Link>;
  return (
    <span className="link-list">
      {node.groups.map(({ id, name }) => (
        <Link key={id} to={paths.group(env, id)}>
          {name}
        </Link>
      ))}
    </span>
  );
};

const SOURCE_WORD = { agent: 'agent', group: 'group', ui: 'UI' } as const;

const labelsOf = (node: FleetNode): SourcedLabel[] =>
  Object.entries(node.labels)
    .map(([key, value]) => {
      const source = node.labelSources[key];
      return { key, value, ...(source ? { from: SOURCE_WORD[source] } : {}) };
    })
    .sort((a, b) => a.key.localeCompare(b.key));
