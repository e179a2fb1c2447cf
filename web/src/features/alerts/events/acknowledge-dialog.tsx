import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AlertEvent } from '../../../../../schemas/api/insight/alerts.ts';
import { api } from '../../../api/client.ts';
import { Field } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useReportedMutation } from '../../../ui/form/reported-mutation.ts';
import { Dialog } from '../../../ui/primitives/dialog.tsx';

interface Props {
  event: AlertEvent | null;
  close: () => void;
}

export const AcknowledgeDialog = ({ event, close }: Props) => (
  <Dialog title="Acknowledge the alert" opened={event !== null} close={close}>
    {event && <AcknowledgeForm event={event} close={close} />}
  </Dialog>
);

const MAX_NOTE = 500;

const AcknowledgeForm = ({ event, close }: { event: AlertEvent; close: () => void }) => {
  const queryClient = useQueryClient();
  const [note, setNote] = useState('');
  const acknowledge = useReportedMutation(() => renewAlerts(queryClient), {
    run: () =>
      api.alert.acknowledgeEvent.mutate({ id: event.id, ...(note.trim() ? { note: note.trim() } : {}) }),
    done: () => null,
    after: close,
  });
  return (
    <MutationForm mutation={acknowledge} close={close} submit="Acknowledge" working="Acknowledging…">
      <p>
        <strong>{event.message}</strong>
      </p>
      <p className="muted">
        Others see that you look after it. It leaves the bell, stays in the list, and ends by itself.
      </p>
      <Field
        label="Note (optional)"
        value={note}
        onChange={setNote}
        maxLength={MAX_NOTE}
        hint="What is known or being done; it stands in the timeline."
        autoFocus
      />
    </MutationForm>
  );
};

/** All lists of events, silences and rules. */
export async function renewAlerts(queryClient: ReturnType<typeof useQueryClient>): Promise<void> {
  await queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) =>
      typeof name === 'string' && name.startsWith('alert.') && name !== 'alert.previewRule',
  });
}
