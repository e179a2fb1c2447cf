import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { Time } from '../../components/bits.tsx';
import { CommandBlock } from '../../components/command-block.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field, SelectField } from '../../components/field.tsx';
import { plural } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { InlineError } from '../../components/states.tsx';

interface Props {
  environmentId: string;
  opened: boolean;
  close: () => void;
}

const LIFETIMES = [
  { value: '1', word: '1 hour' },
  { value: '24', word: '1 day' },
  { value: '720', word: '30 days' },
  { value: '', word: 'No end' },
] as const;

/** Makes a token and shows, once, the lines that start an agent with it. */
export const EnrollDialog = ({ environmentId, opened, close }: Props) => (
  <Dialog title="Enroll a node" opened={opened} close={close} size="lg">
    {opened && <EnrollForm environmentId={environmentId} close={close} />}
  </Dialog>
);

const EnrollForm = ({ environmentId, close }: Omit<Props, 'opened'>) => {
  const environment = useQuery(queries.environment(environmentId));
  const [hours, setHours] = useState<(typeof LIFETIMES)[number]['value']>('24');
  const [labels, setLabels] = useState('');
  const generate = useMutation({
    mutationFn: () =>
      api.environment.generateEnrollmentToken.mutate({
        environmentId,
        ...(hours ? { expiresInHours: Number(hours) } : {}),
      }),
  });
  const current = environment.data?.enrollmentToken;

  if (generate.data) {
    const lines = [
      `export SVC_URL=${window.location.origin}`,
      `export SVC_TOKEN=${generate.data.token}`,
      ...(labels.trim() ? [`export SVC_NODE_LABELS='${labels.trim().replaceAll("'", '')}'`] : []),
      'headgate-agent',
    ];
    return (
      <div className="form">
        <p>
          Paste this into the machine’s terminal. The token is shown <strong>only now</strong>; Headgate keeps
          a hash of it{generate.data.expiresAt ? ', and it ends ' : '.'}
          {generate.data.expiresAt && <Time at={generate.data.expiresAt} />}
          {generate.data.expiresAt ? '.' : ''}
        </p>
        <CommandBlock label="commands that start the agent" lines={lines} />
        <p className="muted">
          The agent is one file, <code>dist/headgate-agent</code> of this installation: copy it to the machine
          first. It keeps its own key under <code>/var/lib/svc-agent</code>: set <code>SVC_DATA_DIR</code>{' '}
          where it may not write there, and <code>SVC_ENGINE_BIN</code> where the engine is not on the search
          path. The node appears in the list as soon as it was heard.
        </p>
        <div className="form-actions">
          <button type="button" className="button" data-kind="primary" onClick={close}>
            Done
          </button>
        </div>
      </div>
    );
  }
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        generate.mutate();
      }}
    >
      <SelectField label="The token ends after" value={hours} onChange={setHours} options={LIFETIMES} />
      <Field
        label="Labels of the node"
        value={labels}
        onChange={setLabels}
        mono
        placeholder="role=edge,region=eu"
        hint="Pipelines choose their nodes by these. They can be changed later."
      />
      {current && (
        <p className="inline-error" style={{ background: 'var(--held-weak)', color: 'var(--held)' }}>
          <Icon name="warning" size={14} />
          <span>
            A token exists already, used by {plural(current.uses, 'node')}. A new one takes its place; nodes
            that are enrolled stay.
          </span>
        </p>
      )}
      {generate.isError && <InlineError error={generate.error} />}
      <div className="form-actions">
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" className="button" data-kind="primary" disabled={generate.isPending}>
          {generate.isPending ? 'Making the token…' : 'Generate token'}
        </button>
      </div>
    </form>
  );
};
