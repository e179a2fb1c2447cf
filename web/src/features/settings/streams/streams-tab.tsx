/** Streams of the audit log and of alert events: where they go, how far each has come, and what keeps it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { EventStream, StreamTest } from '../../../../../schemas/api/insight/event-streams.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { EmptyState, InlineError, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { plural } from '../../../ui/text/format.ts';
import { type StreamAction, StreamDialogs } from './stream-dialogs.tsx';

export const StreamsTab = () => {
  const streams = useQuery(queries.streams());
  const [action, setAction] = useState<StreamAction | null>(null);
  return (
    <Section
      title="Streams"
      beside={
        <Button icon="plus" size="small" onClick={() => setAction({ kind: 'create' })}>
          New stream
        </Button>
      }
    >
      <div className="section-body">
        <p className="muted">
          The audit log and alert events of the whole installation as they happen, to a webhook or an OTLP
          endpoint: in order, and at least once.
        </p>
      </div>
      <Loaded query={streams} what="Streams" skeleton={<SkeletonRows rows={3} label="Loading streams" />}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon="sync" title="Nothing is streamed">
              <p>
                Create a stream to keep the audit log or alert events in another system too, or to act on what
                happens here.
              </p>
            </EmptyState>
          ) : (
            <ul className="accounts" aria-label="Streams">
              {list.map((stream) => (
                <StreamRow key={stream.id} stream={stream} act={setAction} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <StreamDialogs action={refreshed(action, streams.data)} close={() => setAction(null)} />
    </Section>
  );
};

/** What waits grows while a dialog is open. */
function refreshed(action: StreamAction | null, list: readonly EventStream[] = []): StreamAction | null {
  if (action === null || action.kind === 'create') return action;
  return { ...action, stream: list.find(({ id }) => id === action.stream.id) ?? action.stream };
}

const KINDS = { webhook: 'Webhook', otlp: 'OTLP logs' } as const;
const SOURCES = { audit: 'the audit log', alerts: 'alert events' } as const;

const StreamRow = ({ stream, act }: { stream: EventStream; act: (action: StreamAction) => void }) => {
  const { id, name, source, kind, url, lastError, lastErrorAt, missed, waiting, delivered, lastDeliveredAt } =
    stream;
  const test = useMutation({ mutationFn: () => api.stream.test.mutate({ id }) });
  return (
    <li aria-label={name}>
      <div className="preset-head">
        <b>{name}</b>
        <StreamState stream={stream} />
        <span className="muted breakable">
          {KINDS[kind]} of {SOURCES[source]} to <span className="mono">{url}</span>
        </span>
      </div>
      {lastError && (
        <Notice tone="failed" icon="warning">
          {lastError} (<Time at={lastErrorAt} />, {plural(stream.failures, 'failure')} in a row).{' '}
          {plural(waiting, 'entry waits', 'entries wait')}.
        </Notice>
      )}
      {missed && (
        <Notice tone="held" icon="warning">
          {plural(missed.entries, 'entry was', 'entries were')} not delivered, the last{' '}
          <Time at={missed.at} />: {missed.reason}.
        </Notice>
      )}
      {test.data && <TestResult result={test.data} />}
      {test.isError && <InlineError error={test.error} />}
      <div className="account-foot">
        <span className="muted">
          {plural(delivered, 'entry', 'entries')} delivered, last <Time at={lastDeliveredAt} /> ·{' '}
          {waiting.toLocaleString('en')} waiting
          {stream.headerNames.length > 0 && ` · headers: ${stream.headerNames.join(', ')}`}
        </span>
        <span className="button-row">
          <Button size="small" disabled={test.isPending} onClick={() => test.mutate()}>
            {test.isPending ? 'Testing…' : 'Test'}
            <span className="sr-only"> {name}</span>
          </Button>
          <Button size="small" onClick={() => act({ kind: 'edit', stream })}>
            Edit<span className="sr-only"> {name}</span>
          </Button>
          <Button size="small" onClick={() => act({ kind: 'delete', stream })}>
            Delete<span className="sr-only"> {name}</span>
          </Button>
        </span>
      </div>
    </li>
  );
};

const TestResult = ({ result: { delivered, message } }: { result: StreamTest }) => (
  <Notice role="status" tone={delivered ? 'ok' : 'failed'} icon={delivered ? 'check' : 'warning'}>
    {message}.
  </Notice>
);

const StreamState = ({ stream: { enabled, lastError, waiting } }: { stream: EventStream }) => {
  if (!enabled)
    return (
      <Badge tone="unknown" icon="held">
        Disabled
      </Badge>
    );
  if (lastError) return <Badge tone="failed">Failing</Badge>;
  return waiting > 0 ? <Badge tone="moving">Sending</Badge> : <Badge tone="ok">Up to date</Badge>;
};
