/** One event with its timeline, in the place of the page's tabs. */
import { useQuery } from '@tanstack/react-query';
import type { AlertEventDetail } from '../../../../../schemas/api/insight/alerts.ts';
import { alertQueries } from '../../../api/queries/alerts.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { ErrorState, Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { ButtonLink } from '../../../ui/primitives/button.tsx';
import { Fact } from '../../../ui/primitives/fact.tsx';
import { Page, Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { amountText, isFact, ruleText } from '../rule-text.ts';
import { type EventAction, EventActions } from './event-actions.tsx';
import { EventBadge } from './event-badge.tsx';
import { EventSubject } from './event-subject.tsx';
import { chartRange, lastedText } from './event-text.ts';
import { EventTimeline } from './event-timeline.tsx';
import { MuteText } from './mute-text.tsx';

interface Props {
  id: string;
  /** Where the list is that the event was opened from. */
  back: string;
  act: (action: EventAction) => void;
}

export const EventView = ({ id, back, act }: Props) => {
  const event = useQuery(alertQueries.event(id));
  const head = { to: back, word: 'Alerts' };
  return (
    <Loaded
      query={event}
      what="This alert"
      around={() => (
        <Page title="Alert" back={head}>
          <ErrorState error={event.error} retry={() => void event.refetch()} what="This alert" />
        </Page>
      )}
      skeleton={
        <div className="page">
          <SkeletonBlock height={32} label="Loading the alert" />
          <SkeletonBlock height={92} label="Loading its facts" />
          <SkeletonBlock height={240} label="Loading its timeline" />
        </div>
      }
    >
      {(data) => (
        <Page
          title={data.message}
          back={head}
          beside={<EventBadge event={data} />}
          actions={<EventActions event={data} act={act} />}
        >
          <EventFacts event={data} />
          <Section title="Timeline">
            <EventTimeline event={data} />
          </Section>
        </Page>
      )}
    </Loaded>
  );
};

const EventFacts = ({ event }: { event: AlertEventDetail }) => {
  const { environmentId: env, metric, value, peak, ruleId, ruleName, resolvedAt, openedAt } = event;
  const { environment } = usePlace();
  const now = useNow();
  return (
    <Section title="What fired" beside={<ChartLinks event={event} />}>
      <div className="section-body">
        <dl className="facts">
          <Fact name="Rule">
            {ruleName} <span className="muted">({ruleText(event)})</span>
          </Fact>
          <Fact name="Node or pipeline">
            <EventSubject event={event} />
          </Fact>
          <Fact name="Environment">{environment.name}</Fact>
          {!isFact(metric) && (
            <>
              <Fact name={resolvedAt ? 'Last value' : 'Value now'}>
                <span className="mono">{value === null ? 'none' : amountText(metric, value, 2)}</span>
              </Fact>
              <Fact name="Peak">
                <span className="mono">{peak === null ? 'none' : amountText(metric, peak, 2)}</span>
              </Fact>
            </>
          )}
          <Fact name="Fired">
            <Time at={openedAt} />
          </Fact>
          <Fact name={resolvedAt ? 'Lasted' : 'Firing for'}>{lastedText(event, now)}</Fact>
          {event.times > 1 && (
            <Fact name="Fired altogether">
              {event.times} times, first <Time at={event.firedAt} />
            </Fact>
          )}
          {event.resolvedReason && <Fact name="Resolved because">{event.resolvedReason}</Fact>}
        </dl>
        {event.mutedBy !== null && (
          <p className="alert-muted">
            <MuteText env={env} mutedBy={event.mutedBy} />. Nothing is sent while it is muted.
          </p>
        )}
        <div className="button-row">
          <ButtonLink size="small" to={paths.alerts(env, { tab: 'history', rule: ruleId })}>
            All alerts of this rule
          </ButtonLink>
          <ButtonLink size="small" to={paths.alerts(env, { tab: 'rules', q: ruleName })}>
            Open the rule
          </ButtonLink>
        </div>
      </div>
    </Section>
  );
};

/** Charts of the node and the pipeline at the time of the event. */
const ChartLinks = ({ event }: { event: AlertEventDetail }) => {
  const { environmentId: env, nodeId, pipelineId } = event;
  const range = chartRange(event, useNow());
  return (
    <span className="button-row">
      {pipelineId && (
        <ButtonLink
          size="small"
          icon="metrics"
          to={paths.pipeline(env, pipelineId, { tab: 'metrics', ...range })}
        >
          Charts of the pipeline
        </ButtonLink>
      )}
      {nodeId && (
        <ButtonLink size="small" icon="metrics" to={paths.node(env, nodeId, range)}>
          Charts of the node
        </ButtonLink>
      )}
    </span>
  );
};
