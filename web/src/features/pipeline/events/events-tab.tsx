import { NativeSelect, Stack } from '@mantine/core';
/** Events that run through the pipeline right now: samples of a moment, a live tap, and the fields that they have. */
import '../../../ui/log/logs.css';
import './events.css';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { EmptyState } from '../../../ui/feedback/page-states.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { TextFilter } from '../../../ui/table/text-filter.tsx';
import { Fields } from './event-fields.tsx';
import { EVENT_VIEWS, type EventsAddress, useEventsAddress } from './events-search-params.ts';
import { Live } from './live-events.tsx';
import { Samples } from './samples.tsx';
import { firstOf, neighboursOf, type TapTarget, tapTargets } from './tap-targets.ts';

const VIEWER_REASON =
  'Your role here is VIEWER: you see samples that others have taken. Taking them needs EDITOR; ask an administrator of the team.';

type Change = (change: Partial<EventsAddress>) => void;

export const EventsTab = ({ env, pipeline }: { env: string; pipeline: Pipeline }) => {
  const { team } = usePlace();
  const [address, change] = useEventsAddress();
  const targets = tapTargets(pipeline.nodes, pipeline.edges);
  const target = firstOf(targets, address.component);
  if (pipeline.isDraft) {
    return (
      <EmptyState icon="source" title="A draft has no events">
        <p>
          Events are read where the pipeline runs.{' '}
          {pipeline.managedBy === 'git' ? (
            <>
              Set <code>deployed: true</code> in its manifest and push.
            </>
          ) : (
            <Link to={paths.pipeline(env, pipeline.id, { deploy: '1' })}>Deploy it</Link>
          )}
        </p>
      </EmptyState>
    );
  }
  if (!target) {
    return (
      <EmptyState icon="source" title="Nothing to look at">
        <p>The pipeline has no components that are switched on.</p>
      </EmptyState>
    );
  }
  const beside = targets.find(({ key }) => key === address.beside && key !== target.key);
  const refusal = team.role === 'VIEWER' ? VIEWER_REASON : null;
  return (
    <Stack gap="md">
      <div className="event-bar">
        <SegmentedControl
          label="What to look at"
          value={address.view}
          options={EVENT_VIEWS}
          onChange={(view) => change({ view })}
        />
        <Choices
          pipeline={pipeline}
          targets={targets}
          target={target}
          beside={beside}
          address={address}
          change={change}
        />
      </div>
      {refusal && address.view !== 'fields' && (
        <Notice icon="shield" tone="moving">
          {refusal}
        </Notice>
      )}
      {address.view === 'samples' && (
        <Samples
          pipelineId={pipeline.id}
          targets={inOrder(pipeline, targets, target, beside)}
          nodeId={address.node}
          requestId={address.request}
          setRequest={(request) => change({ request })}
          text={address.text}
          refusal={refusal}
        />
      )}
      {address.view === 'live' && (
        <Live
          pipelineId={pipeline.id}
          target={target}
          nodeId={address.node}
          text={address.text}
          refusal={refusal}
        />
      )}
      {address.view === 'fields' && <Fields pipelineId={pipeline.id} target={target} />}
    </Stack>
  );
};

/** As events pass them: what comes before stands left. */
function inOrder(
  pipeline: Pipeline,
  targets: readonly TapTarget[],
  target: TapTarget,
  beside: TapTarget | undefined,
): TapTarget[] {
  if (!beside) return [target];
  const { before } = neighboursOf(target, targets, pipeline);
  return before.includes(beside) || targets.indexOf(beside) < targets.indexOf(target)
    ? [beside, target]
    : [target, beside];
}

interface ChoicesProps {
  pipeline: Pipeline;
  targets: readonly TapTarget[];
  target: TapTarget;
  beside: TapTarget | undefined;
  address: EventsAddress;
  change: Change;
}

const Choices = ({ pipeline, targets, target, beside, address, change }: ChoicesProps) => {
  const { before, after } = neighboursOf(target, targets, pipeline);
  const near = new Set([...before, ...after]);
  const others = targets.filter((each) => each !== target && !near.has(each));
  const runs = pipeline.statuses.filter(({ status }) => status === 'RUNNING');
  const isKnown = address.node === '' || runs.some(({ nodeId }) => nodeId === address.node);
  return (
    <>
      <Choice
        label="Component"
        value={target.key}
        onChange={(component) => change({ component, beside: '', request: '' })}
      >
        <Group label="Sources" targets={targets.filter(({ kind }) => kind === 'SOURCE')} />
        <Group label="Transforms" targets={targets.filter(({ kind }) => kind === 'TRANSFORM')} />
        <Group label="Sinks, what comes in" targets={targets.filter(({ kind }) => kind === 'SINK')} />
      </Choice>
      {address.view === 'samples' && (
        <Choice
          label="Beside it"
          value={beside?.key ?? ''}
          onChange={(key) => change({ beside: key, request: '' })}
        >
          <option value="">nothing</option>
          <Group label="Before it" targets={before} />
          <Group label="After it" targets={after} />
          <Group label="Others" targets={others} />
        </Choice>
      )}
      {address.view !== 'fields' && (
        <>
          <Choice label="Node" value={address.node} onChange={(node) => change({ node })}>
            <option value="">any that runs it</option>
            {!isKnown && <option value={address.node}>{nameOf(pipeline, address.node)}</option>}
            {runs.map(({ nodeId, nodeName }) => (
              <option key={nodeId} value={nodeId}>
                {nodeName}
              </option>
            ))}
          </Choice>
          <TextFilter param="text" label="Text in the event" />
        </>
      )}
    </>
  );
};

/** One that does not run it now: the controller says why it cannot be asked. */
const nameOf = (pipeline: Pipeline, node: string): string =>
  pipeline.statuses.find(({ nodeId }) => nodeId === node)?.nodeName ?? node;

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: ReactNode;
}

const Choice = ({ label, value, onChange, children }: ChoiceProps) => {
  return (
    <NativeSelect
      className="label-beside"
      label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {children}
    </NativeSelect>
  );
};

const Group = ({ label, targets }: { label: string; targets: readonly TapTarget[] }) =>
  targets.length === 0 ? null : (
    <optgroup label={label}>
      {targets.map(({ key }) => (
        <option key={key} value={key}>
          {key}
        </option>
      ))}
    </optgroup>
  );
