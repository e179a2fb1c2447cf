import { useQueryClient } from '@tanstack/react-query';
import type { AlertSilence } from '../../../../../schemas/api/insight/alerts.ts';
import { api } from '../../../api/client.ts';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useReportedMutation } from '../../../ui/form/reported-mutation.ts';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Labels } from '../../../ui/primitives/labels.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { plural } from '../../../ui/text/format.ts';
import { BecomesNotice, useBecameGit } from '../../ownership/git-edits.tsx';
import { renewAlerts } from '../events/acknowledge-dialog.tsx';
import { SilenceForm } from './silence-form.tsx';

export type SilenceAction =
  | { kind: 'new-silence'; matchers: Readonly<Record<string, string>> }
  | { kind: 'end-silence'; silence: AlertSilence };

interface Props {
  action: SilenceAction | null;
  close: () => void;
}

export const SilenceDialog = ({ action, close }: Props) => (
  <Dialog title="New silence" opened={action?.kind === 'new-silence'} close={close} size="lg">
    {action?.kind === 'new-silence' && <SilenceForm matchers={action.matchers} close={close} />}
  </Dialog>
);

export const EndSilenceDialog = ({ action, close }: Props) => (
  <Dialog title="End the silence" opened={action?.kind === 'end-silence'} close={close}>
    {action?.kind === 'end-silence' && <EndForm silence={action.silence} close={close} />}
  </Dialog>
);

const EndForm = ({ silence, close }: { silence: AlertSilence; close: () => void }) => {
  const queryClient = useQueryClient();
  const became = useBecameGit();
  const end = useReportedMutation(() => renewAlerts(queryClient), {
    run: async () => became(await api.alert.endSilence.mutate({ id: silence.id })),
    done: () => null,
    after: close,
  });
  const isScheduled = silence.status === 'scheduled';
  return (
    <MutationForm
      mutation={end}
      close={close}
      submit={isScheduled ? 'Delete the silence' : 'End it now'}
      working="Ending…"
      cancel="Keep it"
    >
      <BecomesNotice git={silence.git} what="Ending it" />
      <p>
        <strong>{silence.reason}</strong>
      </p>
      <p>
        <Labels labels={silence.matchers} />
      </p>
      <p>
        {isScheduled ? (
          'It has not begun: it is deleted.'
        ) : (
          <>
            It would end <Time at={silence.endsAt} />.{' '}
            {silence.muted === 0
              ? 'It mutes nothing now.'
              : `${plural(silence.muted, 'alert')} that it mutes ${silence.muted === 1 ? 'is' : 'are'} sent then.`}
          </>
        )}
      </p>
    </MutationForm>
  );
};
