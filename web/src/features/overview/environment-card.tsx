import { Link } from 'react-router';
import type {
  EnvironmentOverview,
  NodeCounts,
  PipelineCounts,
  PipelineState,
} from '../../../../schemas/api/insight/dashboard.ts';
import { paths } from '../../app/paths.ts';
import { type Count, CountBar } from '../../ui/primitives/count-bar.tsx';
import { EnvironmentTag } from '../../ui/primitives/environment-tag.tsx';
import type { Tone } from '../../ui/primitives/tone.ts';
import { formatBytesRate, formatRate } from '../../ui/text/format.ts';
import { environmentCause } from '../gate/gate-cause.ts';
import { GateStrip } from '../gate/gate-strip.tsx';
import { RecentRate } from '../metrics/recent-rate.tsx';
import { Passes } from './last-passes.tsx';
import { Problems } from './problems.tsx';

interface Props {
  overview: EnvironmentOverview;
}

/** What should run in an environment, what does, and why they differ. */
export const EnvironmentCard = ({ overview }: Props) => {
  const { environmentId: env, environmentName: name, git } = overview;
  return (
    <section className="env-card" aria-label={name}>
      <div className="env-row">
        <div className="env-head">
          <h2 className="env-name">
            <EnvironmentTag environment={{ name }} />
            {git.branch && (
              <span className="mono muted">
                {git.branch}
                {git.path ? ` · ${git.path}` : ''}
              </span>
            )}
          </h2>
          {git.branch ? (
            <GateStrip gate={overview.gate} of={name} causeOf={environmentCause(env)} />
          ) : (
            <Link to={paths.git(env)}>Bind this environment to git</Link>
          )}
        </div>
        <div>
          <p className="env-label">Nodes</p>
          <CountBar label={`Nodes of ${name} by health`} counts={healthCounts(env, overview.nodes)} />
        </div>
        <div>
          <p className="env-label">Pipelines</p>
          <CountBar label={`Pipelines of ${name} by status`} counts={stateCounts(env, overview.pipelines)} />
        </div>
        <Throughput overview={overview} />
      </div>
      <div className="env-lists">
        <Problems overview={overview} />
        <Passes overview={overview} />
      </div>
    </section>
  );
};

const Throughput = ({ overview: { environmentId, rates } }: Props) => (
  <div>
    <p className="env-label">
      <Link to={paths.metrics(environmentId)}>Throughput</Link> now
    </p>
    <p className="env-flow mono">
      {formatRate(rates.eventsIn)}
      <RecentRate environmentId={environmentId} />
    </p>
    <p className="muted mono">
      {formatBytesRate(rates.bytesIn)} in, {formatBytesRate(rates.bytesOut)} out
    </p>
  </div>
);

function healthCounts(env: string, nodes: NodeCounts): Count[] {
  const href = (health: string): string => paths.fleet(env, { health });
  return [
    { tone: 'ok', word: 'healthy', count: nodes.healthy, href: href('HEALTHY') },
    { tone: 'held', word: 'degraded', count: nodes.degraded, href: href('DEGRADED') },
    { tone: 'failed', word: 'unreachable', count: nodes.unreachable, href: href('UNREACHABLE') },
    { tone: 'unknown', word: 'never heard', count: nodes.unknown, href: href('UNKNOWN') },
  ];
}

const STATES: readonly [PipelineState, Tone, string][] = [
  ['running', 'ok', 'running'],
  ['moving', 'moving', 'starting'],
  ['held', 'held', 'held'],
  ['stopped', 'held', 'stopped'],
  ['crashed', 'failed', 'crashed'],
  ['idle', 'unknown', 'no node'],
  ['draft', 'unknown', 'draft'],
];

function stateCounts(env: string, pipelines: PipelineCounts): Count[] {
  return STATES.flatMap(([state, tone, word]) => {
    const count = pipelines[state];
    return count > 0 ? [{ tone, word, count, href: paths.pipelines(env, { status: state }) }] : [];
  });
}
