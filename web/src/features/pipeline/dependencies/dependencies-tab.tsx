import { Group, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Link } from 'react-router';
import type { Dependency, DependencyGraph } from '../../../../../schemas/api/pipelines/pipeline-order.ts';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { api } from '../../../api/client.ts';
import { lazyPart } from '../../../api/lazy-part.ts';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { EmptyState, InlineError, Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button, IconButton } from '../../../ui/primitives/button.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { useBecameGit } from '../../ownership/git-edits.tsx';
import { FixedNotice, useFixed } from '../../pipelines/actions/edit-lock.tsx';
import { useRenewPipelines } from '../../pipelines/actions/pipeline-actions.ts';
import { around, connected } from './dependency-graph.ts';

const DependencyMap = lazyPart(() => import('./dependency-map.tsx'), 'DependencyMap');

interface Props {
  env: string;
  pipeline: Pipeline;
}

/** What must be there before a pipeline makes sense, and what waits for it: as people and manifests say. */
export const DependenciesTab = ({ env, pipeline }: Props) => {
  const { team } = usePlace();
  const upstreams = useQuery(queries.dependencies(pipeline.id));
  const graph = useQuery(queries.dependencyGraph(env));
  const skeleton = <SkeletonBlock height={240} label="Loading dependencies" />;
  return (
    <Stack gap="md">
      <FixedNotice env={env} role={team.role} pipeline={pipeline} />
      <Loaded query={upstreams} what="Dependencies" skeleton={skeleton}>
        {(list) => (
          <Loaded query={graph} what="The dependencies of the environment" skeleton={skeleton}>
            {(whole) => (
              <>
                <div className="columns">
                  <Upstreams env={env} pipeline={pipeline} upstreams={list} />
                  <Downstreams env={env} pipeline={pipeline} graph={whole} />
                </div>
                <Around env={env} pipeline={pipeline} graph={whole} />
              </>
            )}
          </Loaded>
        )}
      </Loaded>
    </Stack>
  );
};

const DeployedBadge = ({ isDraft }: { isDraft: boolean }) =>
  isDraft ? <Badge tone="held">not deployed</Badge> : <Badge tone="ok">deployed</Badge>;

const SourceWord = ({ source }: { source: 'ui' | 'git' }) => (
  <span
    className="muted"
    data-tip={
      source === 'git'
        ? 'Its manifest says so, under dependsOn: it is taken back there'
        : 'Said by people, here'
    }
  >
    {source === 'git' ? 'from git' : 'from here'}
  </span>
);

const Upstreams = ({ env, pipeline, upstreams }: Props & { upstreams: readonly Dependency[] }) => {
  const { team } = usePlace();
  const renew = useRenewPipelines();
  const fixed = useFixed(pipeline.managedBy);
  const remove = useMutation({
    mutationFn: (id: string) => api.pipelineDependency.remove.mutate({ id }),
    onSuccess: renew,
  });
  return (
    <Section title={`${pipeline.name} depends on`}>
      <ul className="dependency-list" aria-label="Upstream pipelines">
        {upstreams.map(({ id, source, upstreamId, upstreamName, upstreamIsDraft, description }) => (
          <li key={`${source} ${upstreamName}`}>
            <span className="dependency-line">
              {upstreamId ? (
                <Link to={paths.pipeline(env, upstreamId, { tab: 'dependencies' })}>{upstreamName}</Link>
              ) : (
                <span>{upstreamName}</span>
              )}
              {upstreamId ? (
                <DeployedBadge isDraft={upstreamIsDraft} />
              ) : (
                <Badge tone="failed">not there</Badge>
              )}
              <SourceWord source={source} />
            </span>
            {id !== null && (
              <IconButton
                icon="cross"
                label={`Remove the dependency on ${upstreamName}`}
                tip="Remove"
                disabled={team.role === 'VIEWER' || remove.isPending}
                onClick={() => remove.mutate(id)}
              />
            )}
            {description && <span className="muted dependency-note">{description}</span>}
          </li>
        ))}
        {upstreams.length === 0 && <li className="muted">Nothing.</li>}
      </ul>
      {remove.isError && <InlineError error={remove.error} />}
      <AddDependency env={env} pipeline={pipeline} fixed={fixed} />
    </Section>
  );
};

const AddDependency = ({ env, pipeline, fixed }: Props & { fixed: string | null }) => {
  const renew = useRenewPipelines();
  const became = useBecameGit();
  const candidates = useQuery({
    ...queries.dependencyCandidates(env, pipeline.id),
    enabled: fixed === null,
  });
  const [upstreamId, setUpstreamId] = useState('');
  const [description, setDescription] = useState('');
  const add = useMutation({
    mutationFn: () =>
      api.pipelineDependency.add.mutate({
        upstreamId,
        downstreamId: pipeline.id,
        ...(description.trim() ? { description: description.trim() } : {}),
      }),
    onSuccess: async (added) => {
      became(added);
      setUpstreamId('');
      setDescription('');
      await renew();
    },
  });
  if (fixed !== null) return null;
  const options = [
    { value: '', word: candidates.data?.length === 0 ? 'No other pipeline fits' : 'Choose a pipeline' },
    ...(candidates.data ?? []).map(({ id, name, isDraft }) => ({
      value: id,
      word: isDraft ? `${name} (not deployed)` : name,
    })),
  ];
  return (
    <form
      className="section-body dependency-add"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <SelectField
        label="Add one"
        value={upstreamId}
        onChange={setUpstreamId}
        options={options}
        hint="What would go round in a circle is left out."
      />
      <Field
        label="Why"
        value={description}
        onChange={setDescription}
        autoComplete="off"
        maxLength={2_000}
        placeholder="It writes the files that this one reads"
      />
      {add.isError && <InlineError error={add.error} />}
      <Group gap="sm" justify="flex-end">
        <Button type="submit" disabled={add.isPending || upstreamId === ''}>
          {add.isPending ? 'Adding…' : 'Add the dependency'}
        </Button>
      </Group>
    </form>
  );
};

const Downstreams = ({ env, pipeline, graph }: Props & { graph: DependencyGraph }) => {
  const edges = graph.edges.filter(({ upstreamId }) => upstreamId === pipeline.id);
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  return (
    <Section title={`What depends on ${pipeline.name}`}>
      <ul className="dependency-list" aria-label="Downstream pipelines">
        {edges.map(({ downstreamId, source }) => {
          const node = byId.get(downstreamId);
          return node ? (
            <li key={`${source} ${downstreamId}`}>
              <span className="dependency-line">
                <Link to={paths.pipeline(env, downstreamId, { tab: 'dependencies' })}>{node.name}</Link>
                <DeployedBadge isDraft={node.isDraft} />
                <SourceWord source={source} />
              </span>
            </li>
          ) : null;
        })}
        {edges.length === 0 && <li className="muted">Nothing.</li>}
      </ul>
    </Section>
  );
};

const VIEWS = [
  { value: 'around', word: 'Around this one' },
  { value: 'all', word: 'The whole environment' },
] as const;

/** More would be a cloud of dots. */
const MAX_NODES = 300;

const Around = ({ env, pipeline, graph }: Props & { graph: DependencyGraph }) => {
  const [view, setView] = useState<'around' | 'all'>('around');
  const shown = view === 'around' ? around(graph, pipeline.id) : connected(graph);
  return (
    <Section
      title="Dependencies"
      beside={<SegmentedControl label="What is drawn" value={view} options={VIEWS} onChange={setView} />}
    >
      {shown.edges.length === 0 ? (
        <EmptyState icon="link" title="Nothing depends on anything here">
          <p>
            Say what a pipeline waits for: then a deploy warns while that is missing, and an undeploy says who
            will get no events. Manifests say it under <code>dependsOn</code>, and are applied in that order.
          </p>
        </EmptyState>
      ) : shown.nodes.length > MAX_NODES ? (
        <p className="section-body muted">
          {shown.nodes.length} pipelines depend on one another: too many to draw. See them around one of them.
        </p>
      ) : (
        <Suspense fallback={<SkeletonBlock height={260} label="Loading the graph" />}>
          <DependencyMap env={env} graph={shown} current={pipeline.id} />
        </Suspense>
      )}
    </Section>
  );
};
