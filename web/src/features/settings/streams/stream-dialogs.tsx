import { Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  EventStream,
  StreamKind,
  StreamSource,
} from '../../../../../schemas/api/insight/event-streams.ts';
import { api } from '../../../api/client.ts';
import { CheckboxField } from '../../../ui/form/checkbox-field.tsx';
import { Field, NameField, TextAreaField } from '../../../ui/form/field.tsx';
import { DoneAction, MutationForm } from '../../../ui/form/mutation-form.tsx';
import { RadioField } from '../../../ui/form/radio-field.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { readHeaders } from './stream-draft.ts';

export type StreamAction =
  | { kind: 'create' }
  | { kind: 'edit'; stream: EventStream }
  | { kind: 'delete'; stream: EventStream };

interface Props {
  action: StreamAction | null;
  close: () => void;
}

const titleOf = (action: StreamAction | null): string => {
  if (action === null || action.kind === 'create') return 'New stream';
  return `${action.kind === 'edit' ? 'Edit' : 'Delete'} ${action.stream.name}`;
};

export const StreamDialogs = ({ action, close }: Props) => (
  <Dialog title={titleOf(action)} opened={action !== null} close={close}>
    {action?.kind === 'create' && <CreateForm close={close} />}
    {action?.kind === 'edit' && <EditForm stream={action.stream} close={close} />}
    {action?.kind === 'delete' && <DeleteForm stream={action.stream} close={close} />}
  </Dialog>
);

const useRenewStreams = () => {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['stream.list'] });
};

const KINDS = [
  { value: 'webhook', word: 'Webhook', hint: 'JSON by POST, signed as Standard Webhooks define it.' },
  { value: 'otlp', word: 'OTLP logs', hint: 'Log records by OTLP/HTTP in JSON, as collectors take them.' },
] as const;
const SOURCES = [
  { value: 'audit', word: 'The audit log', hint: 'Who did what, in the order of its chain.' },
  { value: 'alerts', word: 'Alert events', hint: 'That they fire, are acknowledged, muted and resolved.' },
] as const;
const BEGINNINGS = [
  { value: 'now', word: 'Now', hint: 'What happens from now on.' },
  { value: 'oldest', word: 'The oldest entry', hint: 'All that is kept, first.' },
] as const;

const ADDRESS_HINT: Readonly<Record<StreamKind, string>> = {
  webhook: 'Where entries are posted.',
  otlp: 'Without a path it gets /v1/logs.',
};
const HEADERS_HINT =
  'One a line, such as Authorization: Bearer … They are stored encrypted and not shown again.';

const CreateForm = ({ close }: { close: () => void }) => {
  const renew = useRenewStreams();
  const [name, setName] = useState('');
  const [source, setSource] = useState<StreamSource>('audit');
  const [kind, setKind] = useState<StreamKind>('webhook');
  const [url, setUrl] = useState('');
  const [text, setText] = useState('');
  const [startAt, setStartAt] = useState<'now' | 'oldest'>('now');
  const { headers, problem } = readHeaders(text);
  const create = useMutation({
    mutationFn: () =>
      api.stream.create.mutate({
        ...{ name: name.trim(), source, kind, url: url.trim(), startAt },
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
      }),
    onSuccess: async ({ signingSecret }) => {
      await renew();
      if (signingSecret === null) close();
    },
  });
  if (create.data?.signingSecret) return <SigningSecret secret={create.data.signingSecret} close={close} />;
  return (
    <MutationForm
      mutation={create}
      close={close}
      submit="Create the stream"
      working="Creating…"
      disabled={!name.trim() || !url.trim() || problem !== ''}
      autoComplete="off"
    >
      <NameField value={name} onChange={setName} autoFocus placeholder="security log" />
      <RadioField label="Streams" value={source} options={SOURCES} onChange={setSource} />
      <RadioField label="Sends" value={kind} options={KINDS} onChange={setKind} />
      <Field
        label="Address"
        value={url}
        onChange={setUrl}
        required
        mono
        autoComplete="off"
        maxLength={2_000}
        placeholder="https://…"
        hint={ADDRESS_HINT[kind]}
      />
      <TextAreaField
        label="Headers"
        value={text}
        onChange={setText}
        mono
        problem={problem}
        hint={HEADERS_HINT}
      />
      <RadioField label="Begins with" value={startAt} options={BEGINNINGS} onChange={setStartAt} />
    </MutationForm>
  );
};

const SigningSecret = ({ secret, close }: { secret: string; close: () => void }) => (
  <Stack gap="lg">
    <p role="status">
      Copy the signing secret now: it is shown <strong>only once</strong>. The receiver verifies requests with
      it.
    </p>
    <CommandBlock label="the signing secret" lines={[secret]} />
    <DoneAction close={close} />
  </Stack>
);

const EditForm = ({ stream, close }: { stream: EventStream; close: () => void }) => {
  const renew = useRenewStreams();
  const [name, setName] = useState(stream.name);
  const [url, setUrl] = useState(stream.url);
  const [enabled, setEnabled] = useState(stream.enabled);
  const [replaces, setReplaces] = useState(false);
  const [text, setText] = useState('');
  const [renews, setRenews] = useState(false);
  const { headers, problem } = readHeaders(text);
  const save = useMutation({
    mutationFn: () =>
      api.stream.update.mutate({
        ...{ id: stream.id, name: name.trim(), url: url.trim(), enabled },
        ...(replaces ? { headers: Object.keys(headers).length > 0 ? headers : null } : {}),
        ...(renews ? { renewSigningSecret: true } : {}),
      }),
    onSuccess: async ({ signingSecret }) => {
      await renew();
      if (signingSecret === null) close();
    },
  });
  if (save.data?.signingSecret) return <SigningSecret secret={save.data.signingSecret} close={close} />;
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit="Save"
      working="Saving…"
      disabled={!name.trim() || !url.trim() || (replaces && problem !== '')}
      autoComplete="off"
    >
      <NameField value={name} onChange={setName} autoFocus />
      <Field
        label="Address"
        value={url}
        onChange={setUrl}
        required
        mono
        autoComplete="off"
        maxLength={2_000}
        hint={ADDRESS_HINT[stream.kind]}
      />
      <CheckboxField
        label="Enabled"
        hint="A disabled stream sends nothing, and goes on where it was."
        checked={enabled}
        onChange={setEnabled}
      />
      <CheckboxField
        label="Replace the headers"
        hint={
          stream.headerNames.length > 0
            ? `It has ${stream.headerNames.join(', ')}; their values are not shown.`
            : 'It has none.'
        }
        checked={replaces}
        onChange={setReplaces}
      />
      {replaces && (
        <TextAreaField
          label="Headers"
          value={text}
          onChange={setText}
          mono
          problem={problem}
          hint={`${HEADERS_HINT} Left empty, it has none.`}
        />
      )}
      {stream.isSigned && (
        <CheckboxField
          label="Renew the signing secret"
          hint="The next request is signed with the new one."
          checked={renews}
          onChange={setRenews}
        />
      )}
    </MutationForm>
  );
};

const DeleteForm = ({ stream, close }: { stream: EventStream; close: () => void }) => {
  const renew = useRenewStreams();
  const remove = useMutation({
    mutationFn: () => api.stream.delete.mutate({ id: stream.id }),
    onSuccess: async () => {
      await renew();
      close();
    },
  });
  return (
    <MutationForm mutation={remove} close={close} submit="Delete the stream" working="Deleting…" danger>
      <p>
        {stream.name} sends nothing more
        {stream.waiting > 0 ? `, and the ${stream.waiting.toLocaleString('en')} that wait are not sent` : ''}.
        The log itself stays.
      </p>
    </MutationForm>
  );
};
