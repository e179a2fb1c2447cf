import type { PipelineOnNode } from '../../../../schemas/api/pipelines/on-nodes.ts';
import { Banner } from '../../ui/feedback/banner.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { plural } from '../../ui/text/format.ts';

/** Rows that are named; all are in the table below. */
const MAX_NAMED = 3;
/** A loss is old news after a day. */
const LOSS_SHOWN_MS = 24 * 60 * 60_000;

interface Props {
  rows: readonly PipelineOnNode[];
  nameOf: (row: PipelineOnNode) => string;
}

const keyOf = (row: PipelineOnNode) => `${row.nodeId} ${row.pipelineId}`;
const isHeard = ({ nodeHealth }: PipelineOnNode) => nodeHealth !== 'UNREACHABLE';

/** Engines that are being stopped, what the last ones lost, and what runs only in part. Nothing where all is well. */
export const EngineRemarks = (props: Props) => (
  <>
    <Degraded {...props} />
    <DrainingNow {...props} />
    <LastLoss {...props} />
    <Warnings {...props} />
  </>
);

const Degraded = ({ rows, nameOf }: Props) => {
  const degraded = rows.filter((row) => row.degraded !== null && row.status === 'RUNNING' && isHeard(row));
  if (degraded.length === 0) return null;
  return (
    <Banner tone="held" title="The engine runs, but a part of it does not">
      <ul className="crashes">
        {degraded.slice(0, MAX_NAMED).map((row) => (
          <li key={keyOf(row)}>
            <strong>{nameOf(row)}</strong>
            <span className="crash-error mono" data-tip={row.degraded}>
              {row.degraded}
            </span>
          </li>
        ))}
      </ul>
      <More count={degraded.length - MAX_NAMED} />
      <p>Free the address, or use another one. The engine binds it at its next start.</p>
    </Banner>
  );
};

const DrainingNow = ({ rows, nameOf }: Props) => {
  const draining = rows.filter((row) => row.draining !== null && isHeard(row));
  if (draining.length === 0) return null;
  return (
    <Banner tone="moving" title="Draining before the engine stops">
      <ul className="crashes">
        {draining.slice(0, MAX_NAMED).map((row) => (
          <li key={keyOf(row)}>
            <strong>{nameOf(row)}</strong> {drainingText(row)}
          </li>
        ))}
      </ul>
      <More count={draining.length - MAX_NAMED} />
    </Banner>
  );
};

function drainingText({ draining }: PipelineOnNode): string {
  if (!draining) return '';
  const { version, secondsLeft, undeliveredEvents } = draining;
  const left = `at most ${Math.round(secondsLeft)} s left`;
  return undeliveredEvents === null
    ? `Version ${version} delivers what it holds, ${left}.`
    : `Version ${version} still holds ${plural(undeliveredEvents, 'event')}, ${left}.`;
}

const LastLoss = ({ rows, nameOf }: Props) => {
  const lost = rows.filter(
    ({ lastDrain }) =>
      lastDrain !== null &&
      lastDrain.lostEvents > 0 &&
      Date.now() - lastDrain.endedAt.getTime() < LOSS_SHOWN_MS,
  );
  if (lost.length === 0) return null;
  return (
    <Banner tone="failed" title="Events were lost when the engine was stopped">
      <ul className="crashes">
        {lost.slice(0, MAX_NAMED).map((row) => (
          <li key={keyOf(row)}>
            <strong>{nameOf(row)}</strong> up to {plural(row.lastDrain?.lostEvents ?? 0, 'event')} of version{' '}
            {row.lastDrain?.version}
            {row.lastDrain && (
              <>
                , <Time at={row.lastDrain.endedAt} />
                {row.lastDrain.sinks.length > 0 && (
                  <>
                    , not delivered by{' '}
                    <span className="mono">
                      {row.lastDrain.sinks
                        .filter(({ lostEvents }) => lostEvents > 0)
                        .slice(0, MAX_NAMED)
                        .map(({ componentId }) => componentId)
                        .join(', ')}
                    </span>
                  </>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
      <More count={lost.length - MAX_NAMED} />
      <p>
        They were in memory, and their sinks did not deliver them in time. Give such a sink a buffer of{' '}
        <code>type: disk</code>, which the next engine reads, or raise <code>drainSeconds</code> of the
        pipeline.
      </p>
    </Banner>
  );
};

/** The same on most nodes: each text once. */
const Warnings = ({ rows }: Props) => {
  const texts = [...new Set(rows.filter(isHeard).flatMap(({ warnings }) => warnings))];
  if (texts.length === 0) return null;
  return (
    <details className="engine-warnings">
      <summary>{plural(texts.length, 'engine warning')}</summary>
      <ul className="crashes">
        {texts.slice(0, 20).map((text) => (
          <li key={text}>
            <span className="mono">{text}</span>
          </li>
        ))}
      </ul>
    </details>
  );
};

const More = ({ count }: { count: number }) =>
  count > 0 ? <p className="muted">and on {plural(count, 'other')}</p> : null;
