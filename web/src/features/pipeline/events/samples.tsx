import { TextInput } from '@mantine/core';
/** Some events of a moment: of one component, or of two side by side. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { AGENT_LIMITS } from '../../../../../schemas/agent/limits.ts';
import type { SampleOf, SampleResultView } from '../../../../../schemas/api/fleet/samples.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { isGone } from '../../../ui/feedback/load-error.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { EmptyState, InlineError, Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { formatDuration, plural, sentence } from '../../../ui/text/format.ts';
import { EventList } from './event-list.tsx';
import type { ShownEvent } from './tap-buffer.ts';
import type { TapTarget } from './tap-targets.ts';

interface Props {
  pipelineId: string;
  /** What is looked at, the one before it first. */
  targets: readonly TapTarget[];
  nodeId: string;
  requestId: string;
  setRequest: (requestId: string) => void;
  text: string;
  refusal: string | null;
}

const { events: MAX_SAMPLES, defaultEvents: DEFAULT_SAMPLES } = AGENT_LIMITS.samples;

export const Samples = ({ pipelineId, targets, nodeId, requestId, setRequest, text, refusal }: Props) => {
  const [count, setCount] = useState(String(DEFAULT_SAMPLES));
  const limit = Number(count);
  const isCount = Number.isInteger(limit) && limit >= 1 && limit <= MAX_SAMPLES;
  const ask = useMutation({
    mutationFn: () =>
      api.pipeline.requestSamples.mutate({
        pipelineId,
        componentKeys: targets.map(({ key }) => key),
        limit,
        ...(nodeId ? { nodeId } : {}),
      }),
    onSuccess: (asked) => setRequest(asked.requestId),
  });
  const names = targets.map(({ key }) => key).join(' and ');
  return (
    <section className="section" aria-label={`Samples of ${names}`}>
      <form
        className="table-bar"
        onSubmit={(event) => {
          event.preventDefault();
          ask.mutate();
        }}
      >
        <Button
          icon="search"
          type="submit"
          kind="primary"
          disabled={refusal !== null || !isCount || ask.isPending}
          tip={refusal ?? undefined}
        >
          {ask.isPending ? 'Asking…' : requestId === '' ? 'Take samples' : 'Take new samples'}
        </Button>
        <CountField count={count} setCount={setCount} isCount={isCount} disabled={refusal !== null} />
      </form>
      {ask.isError && (
        <div className="section-body">
          <InlineError error={ask.error} />
        </div>
      )}
      {requestId === '' ? (
        <EmptyState icon="search" title="No samples yet">
          <p>
            A node that runs the pipeline is asked for some events as they pass {names}. The pipeline runs on
            as it does, and the answer is kept for a day.
          </p>
        </EmptyState>
      ) : (
        <Answer requestId={requestId} pipelineId={pipelineId} text={text} />
      )}
    </section>
  );
};

interface CountProps {
  count: string;
  setCount: (count: string) => void;
  isCount: boolean;
  disabled: boolean;
}

const CountField = ({ count, setCount, isCount, disabled }: CountProps) => (
  <TextInput
    className="label-beside"
    label="Events of each"
    type="number"
    min={1}
    max={MAX_SAMPLES}
    value={count}
    disabled={disabled}
    error={!isCount && `1 to ${MAX_SAMPLES}`}
    onChange={(event) => setCount(event.target.value)}
  />
);

const Answer = ({ requestId, pipelineId, text }: { requestId: string; pipelineId: string; text: string }) => {
  const queryClient = useQueryClient();
  const answer = useQuery(queries.sampleResult(requestId));
  const isDone = answer.data !== undefined && answer.data.status !== 'PENDING';
  useEffect(() => {
    if (isDone) void queryClient.invalidateQueries({ queryKey: ['pipeline.eventSchemas', pipelineId] });
  }, [isDone, pipelineId, queryClient]);
  const isOfAnother = answer.data !== undefined && answer.data.pipelineId !== pipelineId;
  if (isGone(answer) || isOfAnother) {
    return (
      <EmptyState icon="search" title="These samples are no longer kept">
        <p>Samples are kept for a day. Take new ones.</p>
      </EmptyState>
    );
  }
  return (
    <Loaded
      query={answer}
      what="The samples"
      skeleton={<SkeletonBlock height={240} label="Loading the samples" />}
    >
      {(data) => (
        <>
          <Progress answer={data} />
          <div className="samples" data-columns={Math.min(data.componentKeys.length, 2)}>
            {data.componentKeys.map((key) => (
              <SampledComponent
                // Another request is another list, all folded.
                key={`${requestId} ${key}`}
                componentKey={key}
                result={data.results.find(({ componentKey }) => componentKey === key)}
                answer={data}
                text={text}
              />
            ))}
          </div>
        </>
      )}
    </Loaded>
  );
};

const SECOND_MS = 1_000;

const Progress = ({ answer }: { answer: SampleResultView }) => {
  const { status, nodeName, requestedAt, expiresAt, componentKeys, results } = answer;
  const where = nodeName ?? 'A node that is gone';
  if (status === 'PENDING') {
    return (
      <Notice icon="moving" className="event-note" tone="moving" role="status">
        Waiting for {where}: {results.length} of {plural(componentKeys.length, 'component')} answered. It
        listens until events pass, for {formatDuration(secondsBetween(requestedAt, expiresAt))} at most.
      </Notice>
    );
  }
  if (status === 'EXPIRED') {
    return (
      <Notice icon="warning" className="event-note" tone="held" role="status">
        {where} did not answer for every component in time. Look whether it is heard and runs the pipeline,
        then take new samples.
      </Notice>
    );
  }
  return (
    <p className="event-note muted">
      From {where}, <Time at={requestedAt} />.
    </p>
  );
};

const secondsBetween = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / SECOND_MS;

interface SampledProps {
  componentKey: string;
  result: SampleOf | undefined;
  answer: SampleResultView;
  text: string;
}

const SampledComponent = ({ componentKey, result, answer, text }: SampledProps) => {
  const shown = useMemo(
    (): ShownEvent[] =>
      (result?.events ?? []).map((event, id) => ({ id, event, text: JSON.stringify(event) ?? 'null' })),
    [result],
  );
  const wanted = text.toLowerCase();
  const matching = wanted === '' ? shown : shown.filter((each) => each.text.toLowerCase().includes(wanted));
  return (
    <section className="sampled" aria-label={componentKey}>
      <header className="sampled-head">
        <h3 className="mono">{componentKey}</h3>
        {result && <span className="muted">{plural(shown.length, 'event')}</span>}
      </header>
      {!result ? (
        <p className="event-none muted">
          {answer.status === 'PENDING' ? 'Listening…' : 'It did not answer.'}
        </p>
      ) : (
        <>
          {result.error !== null && (
            <Notice icon="warning" className="event-note" tone="held">
              {sentence(result.error)}
            </Notice>
          )}
          {matching.length > 0 ? (
            <EventList label={`Samples of ${componentKey}`} events={matching} unfolded="first" />
          ) : (
            (shown.length > 0 || result.error === null) && (
              <p className="event-none muted">
                {shown.length > 0
                  ? 'None of them has this text.'
                  : 'No event passed while it was listened to.'}
              </p>
            )
          )}
        </>
      )}
    </section>
  );
};
