import type { AlertEvent } from '../../../../../schemas/api/insight/alerts.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { EVENT_STATES, eventState } from './event-text.ts';

export const EventBadge = ({ event }: { event: Pick<AlertEvent, 'status' | 'mutedBy'> }) => {
  const { tone, icon, word } = EVENT_STATES[eventState(event)];
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
};
