import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { NodeCard } from '../../../../schemas/api/insight/dashboard.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { EnvironmentTag } from '../../ui/primitives/environment-tag.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { HealthBadge } from '../../ui/primitives/status-badge.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { formatPercent, plural } from '../../ui/text/format.ts';

const MAX_SHOWN = 4;

/** Larger wants a look sooner: those that are not well, then those that have the least to spare. */
function need({ status, maintenance, pipelinesCrashed, cpuPercent, memoryPercent }: NodeCard): number {
  if (maintenance) return -1;
  const health = { UNREACHABLE: 4_000, DEGRADED: 3_000, UNKNOWN: 1_000, HEALTHY: 0 }[status];
  return health + (pipelinesCrashed > 0 ? 2_000 : 0) + Math.max(cpuPercent ?? 0, memoryPercent ?? 0);
}

/** The few nodes of the team that somebody should see first. */
export const NodesToLookAt = () => {
  const { environments } = usePlace();
  const cards = useQuery(queries.nodeCards());
  if (!environments.some(({ nodeCount }) => nodeCount > 0)) return null;
  const mine = new Set(environments.map(({ id }) => id));
  return (
    <Loaded
      query={cards}
      what="The nodes to look at first"
      skeleton={<SkeletonBlock height={246} label="Loading nodes" />}
    >
      {(data) => (
        <Cards
          nodes={data.nodes.filter(({ environmentId }) => mine.has(environmentId))}
          cut={data.total > data.nodes.length}
        />
      )}
    </Loaded>
  );
};

interface CardsProps {
  nodes: readonly NodeCard[];
  /** There are more than the server tells of at once. */
  cut: boolean;
}

const Cards = ({ nodes, cut }: CardsProps) => {
  const shown = nodes
    .map((node) => ({ node, need: need(node) }))
    .sort((a, b) => b.need - a.need || a.node.name.localeCompare(b.node.name))
    .slice(0, MAX_SHOWN);
  return (
    <Section
      title="Nodes to look at first"
      beside={
        <span className="muted">
          {shown.length} of {cut ? 'the first ' : ''}
          {plural(nodes.length, 'node')}
        </span>
      }
    >
      <ul className="node-cards" aria-label="Nodes to look at first">
        {shown.map(({ node }) => (
          <Card key={node.id} node={node} />
        ))}
      </ul>
    </Section>
  );
};

const Card = ({ node }: { node: NodeCard }) => {
  // What a silent node once said of itself is no use of it now.
  const heard = node.status !== 'UNREACHABLE';
  return (
    <li className="node-card">
      <p className="node-card-head">
        <Link to={paths.node(node.environmentId, node.id)} className="node-card-name">
          {node.name}
        </Link>
        <HealthBadge health={node.status} reason={node.statusReason} />
      </p>
      <p className="node-card-line">
        <EnvironmentTag environment={{ name: node.environmentName }} />
        <span className="muted">
          heard <Time at={node.lastHeartbeatAt} />
        </span>
      </p>
      <Use name="Processor" percent={heard ? node.cpuPercent : null} of={node.name} />
      <Use name="Memory" percent={heard ? node.memoryPercent : null} of={node.name} />
      <p className="node-card-line">
        <span>
          {node.pipelinesRunning} of {plural(node.pipelinesDesired, 'pipeline')} running
        </span>
        {node.pipelinesCrashed > 0 && (
          <span className="tone-text" data-tone="failed">
            {node.pipelinesCrashed} crashed
          </span>
        )}
        {node.maintenance && <span className="muted">in maintenance</span>}
      </p>
    </li>
  );
};

const Use = ({ name, percent, of }: { name: string; percent: number | null; of: string }) => (
  <div className="meter">
    <span>
      {name}{' '}
      <span className="mono muted">{percent === null ? 'not known' : formatPercent(percent / 100)}</span>
    </span>
    {/* biome-ignore lint/a11y/useSemanticElements: browsers draw <meter> in their own ways and colours. */}
    <div
      className="meter-bar"
      role="meter"
      aria-label={`${name} of ${of}`}
      aria-valuenow={Math.round(percent ?? 0)}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuetext={percent === null ? 'not known' : undefined}
    >
      <span className="meter-fill" style={{ width: `${Math.min(percent ?? 0, 100)}%` }} />
    </div>
  </div>
);
