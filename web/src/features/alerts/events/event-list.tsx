/** Open events of one state, each with what can be done. */
import { Link } from 'react-router';
import type { AlertEvent } from '../../../../../schemas/api/insight/alerts.ts';
import { paths } from '../../../app/paths.ts';
import { Time } from '../../../ui/primitives/time.tsx';
import { type EventAction, EventActions } from './event-actions.tsx';
import { EventBadge } from './event-badge.tsx';
import { EventSubject } from './event-subject.tsx';
import { valueText } from './event-text.ts';
import { MuteText } from './mute-text.tsx';

interface Props {
  label: string;
  events: readonly AlertEvent[];
  act: (action: EventAction) => void;
}

export const EventList = ({ label, events, act }: Props) => (
  <ul className="alert-events" aria-label={label}>
    {events.map((event) => (
      <li key={event.id} data-muted={event.mutedBy !== null || undefined}>
        <EventBadge event={event} />
        <div className="alert-event">
          <Link to={paths.alerts(event.environmentId, { event: event.id })} className="alert-event-link">
            {event.message}
          </Link>
          <EventFacts event={event} />
        </div>
        <EventActions event={event} act={act} />
      </li>
    ))}
  </ul>
);

const EventFacts = ({ event }: { event: AlertEvent }) => {
  const { environmentId: env, ruleId, ruleName, openedAt, times } = event;
  const amount = valueText(event);
  return (
    <p className="alert-event-facts">
      <span>
        Rule <Link to={paths.alerts(env, { tab: 'history', rule: ruleId })}>{ruleName}</Link>
      </span>
      <span>
        <EventSubject event={event} />
      </span>
      <span>
        since <Time at={openedAt} />
      </span>
      {amount && <span className="mono">{amount}</span>}
      {times > 1 && <span>fired {times} times</span>}
      {event.status === 'acknowledged' && (
        <span>
          acknowledged by {event.acknowledgedBy ?? 'somebody'} <Time at={event.acknowledgedAt} />
        </span>
      )}
      {event.mutedBy !== null && (
        <span>
          <MuteText env={env} mutedBy={event.mutedBy} />
        </span>
      )}
    </p>
  );
};
