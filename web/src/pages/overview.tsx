import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'react-router';
import type { EnvironmentSummary } from '../../../schemas/api/environments.ts';
import type { NodeSummary } from '../../../schemas/api/fleet.ts';
import type { NodeHealth, PipelineSummary } from '../../../schemas/api/pipelines.ts';
import { queries } from '../api/queries.ts';
import { recordRates, useRateHistory } from '../api/rate-history.ts';
import { usePlace } from '../app/environment.tsx';
import { paths } from '../app/paths.ts';
import { EnvironmentTag, Time, TONE_ICON, type Tone } from '../components/bits.tsx';
import { environmentCause } from '../components/causes.ts';
import { type Count, CountBar } from '../components/count-bar.tsx';
import { formatBytesRate, formatRate, shortCommit } from '../components/format.ts';
import { GateStrip } from '../components/gate-strip.tsx';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { Sparkline } from '../components/sparkline.tsx';
import { Loaded, SkeletonBlock } from '../components/states.tsx';
import { countsOf, outcomeOf } from './git-jobs.ts';
import { pipelineStatus } from './pipeline-status.ts';
import { troublesOf } from './troubles.ts';

const MAX_LISTED = 5;

export const OverviewPage = () => {
  const { team, environments } = usePlace();
  return (
    <Page title="Overview" beside={<span className="muted">{team.name}</span>}>
      {environments.map((environment) => (
        <EnvironmentCard key={environment.id} environment={environment} />
      ))}
    </Page>
  );
};

const EnvironmentCard = ({ environment }: { environment: EnvironmentSummary }) => {
  const pipelines = useQuery(queries.pipelines(environment.id));
  const nodes = useQuery(queries.nodes(environment.id));
  const git = useQuery(queries.git(environment.id));
  return (
    <section className="env-card" aria-label={environment.name}>
      <Loaded
        query={pipelines}
        what={`Pipelines of ${environment.name}`}
        skeleton={<SkeletonBlock height={290} />}
      >
        {(pipelineList) => (
          <Loaded
            query={nodes}
            what={`Nodes of ${environment.name}`}
            skeleton={<SkeletonBlock height={290} />}
          >
            {(nodeList) => (
              <>
                <div className="env-row">
                  <div className="env-head">
                    <h2 className="env-name">
                      <EnvironmentTag environment={environment} />
                      {git.data?.branch && (
                        <span className="mono muted">
                          {git.data.branch}
                          {git.data.path ? ` · ${git.data.path}` : ''}
                        </span>
                      )}
                    </h2>
                    {git.data?.configured ? (
                      <GateStrip
                        gate={git.data.gate}
                        of={environment.name}
                        causeOf={environmentCause(environment.id)}
                      />
                    ) : (
                      <Link to={paths.git(environment.id)}>
                        {git.data ? 'Bind this environment to git' : ''}
                      </Link>
                    )}
                  </div>
                  <div>
                    <p className="env-label">Nodes</p>
                    <CountBar
                      label={`Nodes of ${environment.name} by health`}
                      counts={healthCounts(environment.id, nodeList)}
                    />
                  </div>
                  <div>
                    <p className="env-label">Pipelines</p>
                    <CountBar
                      label={`Pipelines of ${environment.name} by status`}
                      counts={statusCounts(environment.id, pipelineList)}
                    />
                  </div>
                  <Throughput
                    environmentId={environment.id}
                    pipelines={pipelineList}
                    updatedAt={pipelines.dataUpdatedAt}
                  />
                </div>
                <div className="env-lists">
                  <Troubles environment={environment} pipelines={pipelineList} nodes={nodeList} />
                  <Passes environment={environment} />
                </div>
              </>
            )}
          </Loaded>
        )}
      </Loaded>
    </section>
  );
};

interface ThroughputProps {
  environmentId: string;
  pipelines: readonly PipelineSummary[];
  updatedAt: number;
}

const Throughput = ({ environmentId, pipelines, updatedAt }: ThroughputProps) => {
  const total = { eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0, errors: 0 };
  for (const { rates } of pipelines) {
    total.eventsIn += rates.eventsIn;
    total.eventsOut += rates.eventsOut;
    total.bytesIn += rates.bytesIn;
    total.bytesOut += rates.bytesOut;
    total.errors += rates.errors;
  }
  const key = `environment-${environmentId}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: one sample for each answer, however often this is drawn.
  useEffect(() => recordRates(key, total, updatedAt), [key, updatedAt]);
  const history = useRateHistory(key);
  return (
    <div>
      <p className="env-label">Throughput now</p>
      <p className="env-flow mono">
        {formatRate(total.eventsIn)}
        <Sparkline samples={history} of="eventsIn" />
      </p>
      <p className="muted mono">
        {formatBytesRate(total.bytesIn)} in, {formatBytesRate(total.bytesOut)} out
      </p>
    </div>
  );
};

interface TroublesProps {
  environment: EnvironmentSummary;
  pipelines: readonly PipelineSummary[];
  nodes: readonly NodeSummary[];
}

const Troubles = ({ environment, pipelines, nodes }: TroublesProps) => {
  const git = useQuery(queries.git(environment.id));
  const importErrors = useQuery(queries.importErrors(environment.id));
  const troubles = troublesOf({
    environmentId: environment.id,
    pipelines,
    nodes,
    git: git.data,
    importErrors: importErrors.data ?? [],
  });
  return (
    <div className="env-list">
      <h3>Wrong now{troubles.length > 0 ? ` · ${troubles.length}` : ''}</h3>
      {troubles.length === 0 ? (
        <p className="calm-note">
          <Icon name={pipelines.length + nodes.length > 0 ? 'check' : 'dash'} />
          {pipelines.length + nodes.length > 0
            ? 'Everything that should run runs.'
            : 'Nothing should run here yet.'}
        </p>
      ) : (
        <ul aria-label={`Wrong in ${environment.name}`}>
          {troubles.slice(0, MAX_LISTED).map((trouble) => (
            <li key={trouble.key}>
              <Link to={trouble.href} className="item" data-tone={trouble.tone}>
                <Icon name={TONE_ICON[trouble.tone]} />
                <span className="item-text">
                  <span className="item-title">{trouble.title}</span>
                  <span className="item-note">{trouble.note}</span>
                </span>
                <Icon name="chevronRight" size={14} />
              </Link>
            </li>
          ))}
          {troubles.length > MAX_LISTED && (
            <li className="item muted">
              and {troubles.length - MAX_LISTED} more, on Pipelines, Fleet and Git
            </li>
          )}
        </ul>
      )}
    </div>
  );
};

const Passes = ({ environment }: { environment: EnvironmentSummary }) => {
  const jobs = useQuery(queries.gitJobs(environment.id, 10));
  const shown = (jobs.data ?? []).slice(0, MAX_LISTED);
  return (
    <div className="env-list">
      <h3>Last commits and what became of them</h3>
      {jobs.data && shown.length === 0 && <p className="calm-note muted">Nothing was pushed yet.</p>}
      <ul aria-label={`Last passes of ${environment.name}`}>
        {shown.map((job) => {
          const { tone, word } = outcomeOf(job);
          return (
            <li key={job.id}>
              <Link to={paths.git(environment.id)} className="item" data-tone={tone}>
                <Icon name={TONE_ICON[tone]} />
                <span className="item-text">
                  <span className="item-title">
                    {job.commit ? (
                      <>
                        <span className="mono">{shortCommit(job.commit.sha)}</span> {job.commit.subject}
                      </>
                    ) : (
                      `Pass by ${job.trigger}`
                    )}
                  </span>
                  <span className="item-note">
                    {word}: {countsOf(job)}
                    {job.commit ? ` · ${job.commit.author}` : ''}
                  </span>
                </span>
                <span className="item-side">
                  <Time at={job.finishedAt ?? job.queuedAt} />
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </div>
  );
};

function healthCounts(env: string, nodes: readonly NodeSummary[]): Count[] {
  const words: readonly [NodeHealth, Tone, string][] = [
    ['HEALTHY', 'ok', 'healthy'],
    ['DEGRADED', 'held', 'degraded'],
    ['UNREACHABLE', 'failed', 'unreachable'],
    ['UNKNOWN', 'unknown', 'never heard'],
  ];
  return words.map(([health, tone, word]) => ({
    tone,
    word,
    count: nodes.filter(({ status }) => status === health).length,
    href: paths.fleet(env, { health }),
  }));
}

function statusCounts(env: string, pipelines: readonly PipelineSummary[]): Count[] {
  const counts = new Map<string, Count>();
  for (const pipeline of pipelines) {
    const { key, tone, word } = pipelineStatus(pipeline);
    const known = counts.get(key);
    if (known) known.count += 1;
    else counts.set(key, { tone, word, count: 1, href: paths.pipelines(env, { status: key }) });
  }
  const order = ['running', 'moving', 'held', 'stopped', 'crashed', 'idle', 'draft'];
  return order.flatMap((key) => counts.get(key) ?? []);
}
