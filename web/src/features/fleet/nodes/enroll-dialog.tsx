import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queries } from '../../../api/queries/index.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { DoneAction, MutationForm } from '../../../ui/form/mutation-form.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useEnrollmentToken } from './enrollment-token.ts';

interface Props {
  environmentId: string;
  opened: boolean;
  close: () => void;
}

/** Makes a token and shows, once, the lines that start an agent with it. */
export const EnrollDialog = ({ environmentId, opened, close }: Props) => (
  <Dialog title="Enroll a node" opened={opened} close={close} size="lg">
    {opened && <EnrollForm environmentId={environmentId} close={close} />}
  </Dialog>
);

const EnrollForm = ({ environmentId, close }: Omit<Props, 'opened'>) => {
  const environment = useQuery(queries.environment(environmentId));
  const [labels, setLabels] = useState('');
  const { generate, lifetime } = useEnrollmentToken(environmentId);
  const current = environment.data?.enrollmentToken;
  const releases = useQuery(queries.releases());

  if (generate.data) {
    const given = labels.trim().replaceAll("'", '');
    const install = [
      `curl -fsSL ${window.location.origin}/agent/install.sh |`,
      `  SVC_TOKEN=${generate.data.token}${given ? ` SVC_NODE_LABELS='${given}'` : ''} sh`,
    ];
    const lines = [
      `export SVC_URL=${window.location.origin}`,
      `export SVC_TOKEN=${generate.data.token}`,
      ...(given ? [`export SVC_NODE_LABELS='${given}'`] : []),
      'headgate-agent',
    ];
    return (
      <Stack gap="lg">
        <p>
          Paste this into the machine’s terminal. The token is shown <strong>only now</strong>; Headgate keeps
          a hash of it{generate.data.expiresAt ? ', and it ends ' : '.'}
          {generate.data.expiresAt && <Time at={generate.data.expiresAt} />}
          {generate.data.expiresAt ? '.' : ''}
        </p>
        {releases.isPending ? (
          // Which lines are the right ones is not known before.
          <SkeletonBlock height={220} label="Looking up the agent that is served here" />
        ) : (
          <>
            {releases.data?.agent && (
              <>
                <CommandBlock label="commands that install the agent" lines={install} />
                <p className="muted">
                  As root: this installs the agent {releases.data.agent.version} that this controller serves,
                  as a service where systemd runs. Or start an agent that is there already:
                </p>
              </>
            )}
            <CommandBlock label="commands that start the agent" lines={lines} />
            <p className="muted">
              {releases.data?.agent ? (
                'It'
              ) : (
                <>
                  The agent is one file, <code>dist/headgate-agent</code> of this installation: copy it to the
                  machine first. It
                </>
              )}{' '}
              keeps its own key under <code>/var/lib/svc-agent</code>: set <code>SVC_DATA_DIR</code> where it
              may not write there, and <code>SVC_ENGINE_BIN</code> where the engine is not on the search path.
              The node appears in the list as soon as it was heard.
            </p>
          </>
        )}
        <DoneAction close={close} />
      </Stack>
    );
  }
  return (
    <MutationForm mutation={generate} close={close} submit="Generate token" working="Making the token…">
      <SelectField label="The token ends after" {...lifetime} />
      <Field
        label="Labels of the node"
        value={labels}
        onChange={setLabels}
        mono
        placeholder="role=edge,region=eu"
        hint="Pipelines choose their nodes by these. They can be changed later."
      />
      {current && (
        <Notice icon="warning" tone="held">
          A token exists already, used by {plural(current.uses, 'node')}. A new one takes its place; nodes
          that are enrolled stay.
        </Notice>
      )}
    </MutationForm>
  );
};
