import { useQuery } from '@tanstack/react-query';
import type { AlertEventDetail } from '../../../../../schemas/api/insight/alerts.ts';
import { alertQueries } from '../../../api/queries/alerts.ts';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { formatExact } from '../../../ui/text/format.ts';
import { changeLine, firedBefore } from './event-text.ts';

/** What has happened to the event, the oldest first. */
export const EventTimeline = ({ event }: { event: AlertEventDetail }) => {
  const silences = useQuery(alertQueries.silences(event.environmentId)).data ?? [];
  return (
    <ol className="alert-timeline" aria-label="Timeline">
      {event.changes.map((change, index) => {
        const since = firedBefore(event.changes, index);
        const { tone, icon, title, detail } = changeLine(change, event, { since, silences });
        return (
          <li key={change.id} data-tone={tone}>
            <Icon name={icon} size={14} />
            <span className="alert-change">
              <strong>{title}</strong> {detail}
            </span>
            <span className="muted nowrap">
              <span className="alert-change-exact">{formatExact(change.at)} · </span>
              <Time at={change.at} />
            </span>
          </li>
        );
      })}
    </ol>
  );
};
