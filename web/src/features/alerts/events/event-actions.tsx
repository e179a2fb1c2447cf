/** What can be done with an open event. */
import type { AlertEvent } from '../../../../../schemas/api/insight/alerts.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Button } from '../../../ui/primitives/button.tsx';

export type EventAction = { kind: 'acknowledge' | 'silence'; event: AlertEvent };

interface Props {
  event: AlertEvent;
  act: (action: EventAction) => void;
}

export const EventActions = ({ event, act }: Props) => {
  const { team } = usePlace();
  const mayNot = whyNot(team.role, 'EDITOR') ?? undefined;
  if (event.status === 'resolved') return null;
  return (
    <span className="button-row">
      {event.status === 'firing' && (
        <Button
          size="small"
          icon="check"
          disabled={mayNot !== undefined}
          tip={mayNot}
          aria-label={`Acknowledge: ${event.message}`}
          onClick={() => act({ kind: 'acknowledge', event })}
        >
          Acknowledge
        </Button>
      )}
      {event.mutedBy === null && (
        <Button
          size="small"
          icon="held"
          disabled={mayNot !== undefined}
          tip={mayNot}
          aria-label={`Silence: ${event.message}`}
          onClick={() => act({ kind: 'silence', event })}
        >
          Silence
        </Button>
      )}
    </span>
  );
};
