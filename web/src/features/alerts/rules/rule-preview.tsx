/** What the rule in the form would have done in the last 7 days. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PreviewRule, RulePreview } from '../../../../../schemas/api/insight/alerts.ts';
import { alertQueries } from '../../../api/queries/alerts.ts';
import { InlineError, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { useSettled } from '../../../ui/form/debounced-value.ts';
import { Time } from '../../../ui/primitives/time.tsx';
import { formatDuration, plural } from '../../../ui/text/format.ts';
import { amountText } from '../rule-text.ts';
import { PreviewStrip } from './preview-strip.tsx';
import { previewText } from './preview-text.ts';

/** Null while the draft means nothing. */
export const RulePreviewPanel = ({ rule }: { rule: PreviewRule | null }) => {
  // By its text: each key that is typed makes another object.
  const wanted = useSettled(rule && JSON.stringify(rule));
  const settled: PreviewRule | null = wanted && wanted === JSON.stringify(rule) ? rule : null;
  const preview = useQuery({
    ...alertQueries.preview(settled ?? EMPTY),
    enabled: settled !== null,
    placeholderData: keepPreviousData,
  });
  const isOld = settled === null || preview.isPlaceholderData;
  return (
    <section className="rule-preview" aria-label="What it would have done" aria-busy={isOld}>
      <h3>What it would have done</h3>
      {rule === null ? (
        <p className="muted">It is computed once the rule is complete.</p>
      ) : preview.isError && !isOld ? (
        <InlineError error={preview.error} />
      ) : preview.data ? (
        <div data-old={isOld || undefined}>
          <Outcome preview={preview.data} metric={isOld ? null : rule.metric} />
        </div>
      ) : (
        <SkeletonBlock height={74} label="Replaying the last 7 days" />
      )}
    </section>
  );
};

/** Never asked for. */
const EMPTY: PreviewRule = { environmentId: '', metric: 'cpu_usage', condition: 'gt', threshold: 0 };
const LISTED = 5;

interface OutcomeProps {
  preview: RulePreview;
  /** Null while another rule is replayed. */
  metric: PreviewRule['metric'] | null;
}

const Outcome = ({ preview, metric }: OutcomeProps) => {
  const { firings, events, note, series } = preview;
  return (
    <>
      <p role="status">{metric === null ? 'Replaying the last 7 days…' : previewText(preview, metric)}</p>
      {series > 0 && <PreviewStrip preview={preview} />}
      {metric !== null && events.length > 0 && (
        <ul className="rule-preview-firings" aria-label="The newest of them">
          {events.slice(0, LISTED).map((event) => (
            <li key={`${event.nodeId} ${event.pipelineId} ${event.firedAt.getTime()}`}>
              <span>{subjectOf(event)}</span>
              <span className="muted">
                <Time at={event.firedAt} />, {lasted(event, preview.to)}
              </span>
              {event.peak !== null && <span className="mono">{amountText(metric, event.peak, 2)}</span>}
            </li>
          ))}
          {firings > LISTED && <li className="muted">and {plural(firings - LISTED, 'more', 'more')}</li>}
        </ul>
      )}
      {note !== null && <p className="field-hint">{note}</p>}
    </>
  );
};

type Firing = RulePreview['events'][number];

function subjectOf({ nodeName, pipelineName }: Firing): string {
  const names = [pipelineName, nodeName].filter((name) => name !== null);
  return names.join(' on ') || 'something that was deleted';
}

const lasted = ({ firedAt, resolvedAt }: Firing, to: Date): string =>
  resolvedAt === null
    ? `firing for ${formatDuration((to.getTime() - firedAt.getTime()) / 1_000)}`
    : `for ${formatDuration((resolvedAt.getTime() - firedAt.getTime()) / 1_000)}`;
