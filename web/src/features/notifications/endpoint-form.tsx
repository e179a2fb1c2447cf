import { Checkbox } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { WebhookEndpoint } from '../../../../schemas/api/insight/notifications.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/scope.tsx';
import { CheckboxField } from '../../ui/form/checkbox-field.tsx';
import { Field, NameField, SelectField } from '../../ui/form/field.tsx';
import { LabelEditor } from '../../ui/form/label-editor.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { RadioField } from '../../ui/form/radio-field.tsx';
import { METRICS } from '../alerts/rule-text.ts';
import { BecomesNotice, MadeHereNotice, useBecameGit } from '../ownership/git-edits.tsx';
import { renewEndpoints } from './endpoint-calls.ts';
import { changeOf, draftOf, type EndpointDraft, missingOf, newDraft } from './endpoint-draft.ts';
import { FORMATS, formatText } from './endpoint-text.ts';
import { MessagePreview } from './message-preview.tsx';

interface Props {
  /** Null makes one. */
  endpoint: WebhookEndpoint | null;
  /** With the secret that was generated. */
  done: (secret: string | null) => void;
  close: () => void;
}

interface PartProps {
  draft: EndpointDraft;
  set: (change: Partial<EndpointDraft>) => void;
}

export const EndpointForm = ({ endpoint, done, close }: Props) => {
  const { environment, team } = usePlace();
  const queryClient = useQueryClient();
  const isAdmin = team.role === 'ADMIN';
  const [draft, setDraft] = useState(() => (endpoint ? draftOf(endpoint) : newDraft(isAdmin)));
  const set = (change: Partial<EndpointDraft>): void => setDraft((before) => ({ ...before, ...change }));
  const became = useBecameGit();
  const save = useMutation({
    async mutationFn(): Promise<string | null> {
      if (draft.isOfTeam) return saveOfTeam(draft, endpoint, team.id);
      became(await saveOfEnvironment(draft, endpoint, environment.id));
      return null;
    },
    onSuccess: async (secret) => {
      await renewEndpoints(queryClient);
      done(secret);
    },
  });
  const text = formatText(draft.format);
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit={endpoint ? 'Save the endpoint' : 'Create the endpoint'}
      working="Saving…"
      disabled={missingOf(draft, endpoint) !== ''}
      autoComplete="off"
    >
      <BecomesNotice git={endpoint?.git ?? null} />
      {!endpoint && isAdmin && (
        <RadioField
          label="Sends alerts of"
          value={draft.isOfTeam ? 'team' : 'environment'}
          options={[
            {
              value: 'team',
              word: `All environments of ${team.name}`,
              hint: 'Of the kinds that are chosen below.',
            },
            { value: 'environment', word: environment.name, hint: 'All alerts of this environment.' },
          ]}
          onChange={(value) => set({ isOfTeam: value === 'team' })}
        />
      )}
      {!endpoint && !draft.isOfTeam && <MadeHereNotice kind="WebhookEndpoint" many="Webhook endpoints" />}
      {draft.isOfTeam && <NameField value={draft.name} onChange={(name) => set({ name })} autoFocus />}
      <SelectField
        label="Format"
        value={draft.format}
        onChange={(format) => set({ format })}
        options={FORMATS}
        hint={text.hint}
      />
      {endpoint?.urlRef ? (
        <p className="muted">
          The address is in the secret <span className="mono">{endpoint.urlRef}</span>: change its value in
          Secrets.
        </p>
      ) : (
        <Field
          label={text.address}
          value={draft.url}
          onChange={(url) => set({ url })}
          placeholder={text.placeholder}
          maxLength={2_000}
          autoComplete="off"
          mono
          required
        />
      )}
      {draft.isOfTeam && <EventsField draft={draft} set={set} />}
      <SecretField draft={draft} set={set} endpoint={endpoint} />
      {draft.format !== 'email' && <HeadersField draft={draft} set={set} endpoint={endpoint} />}
      <MessagePreview teamId={team.id} format={draft.format} />
    </MutationForm>
  );
};

async function saveOfTeam(draft: EndpointDraft, endpoint: WebhookEndpoint | null, teamId: string) {
  const { url, ...change } = changeOf(draft, endpoint);
  const secret = draft.secret ? { secret: draft.secret } : {};
  const fields = { name: draft.name.trim(), eventTypes: [...draft.eventTypes], ...change, ...secret };
  if (endpoint) {
    const { id } = endpoint;
    await api.webhookEndpoint.update.mutate({ id, teamId, ...fields, ...(url ? { url } : {}) });
    return null;
  }
  const made = await api.webhookEndpoint.create.mutate({ teamId, ...fields, url: url ?? draft.url });
  return made.secret;
}

async function saveOfEnvironment(
  draft: EndpointDraft,
  endpoint: WebhookEndpoint | null,
  environmentId: string,
): Promise<unknown> {
  const { url, ...change } = changeOf(draft, endpoint);
  const fields = { ...change, ...(draft.secret ? { hmacSecret: draft.secret } : {}) };
  return endpoint
    ? api.alert.updateWebhook.mutate({ id: endpoint.id, ...fields, ...(url ? { url } : {}) })
    : api.alert.createWebhook.mutate({ environmentId, ...fields, url: url ?? draft.url });
}

const EventsField = ({ draft, set }: PartProps) => (
  <fieldset className="permissions">
    <legend>Alerts about</legend>
    {METRICS.map(({ value, word }) => (
      <Checkbox
        key={value}
        label={word}
        checked={draft.eventTypes.includes(value)}
        onChange={(event) =>
          set({
            eventTypes: event.target.checked
              ? [...draft.eventTypes, value]
              : draft.eventTypes.filter((one) => one !== value),
          })
        }
      />
    ))}
  </fieldset>
);

const SecretField = ({ draft, set, endpoint }: PartProps & Pick<Props, 'endpoint'>) => {
  const { key } = formatText(draft.format);
  if (key === undefined && draft.format !== 'standard') return null;
  if (endpoint?.git)
    return (
      <p className="muted">
        Git holds no values of secrets: the manifest names one of the environment (
        <span className="mono">secretRef</span>), whose value is changed in Secrets.
      </p>
    );
  const has = endpoint?.hasSecret === true && endpoint.format === draft.format;
  const hint = has
    ? key
      ? 'Leave it empty to keep the one that is set.'
      : 'Leave it empty to keep the one that is set. A new one signs beside the old one for 24 hours.'
    : key || !draft.isOfTeam
      ? undefined
      : 'Leave it empty to have one generated, which is shown once.';
  return (
    <Field
      label={key ?? 'Signing secret'}
      type="password"
      value={draft.secret}
      onChange={(secret) => set({ secret })}
      hint={hint}
      maxLength={256}
      autoComplete="new-password"
      required={key !== undefined && !has}
    />
  );
};

const HeadersField = ({ draft, set, endpoint }: PartProps & Pick<Props, 'endpoint'>) => {
  const names = endpoint?.headerNames ?? [];
  return (
    <>
      {names.length > 0 && (
        <CheckboxField
          label={`Replace the headers ${names.join(', ')}`}
          hint="Their values are not shown again."
          checked={draft.replacesHeaders}
          onChange={(replacesHeaders) => set({ replacesHeaders })}
        />
      )}
      {draft.replacesHeaders && (
        <LabelEditor
          legend="Headers"
          noun="header"
          rows={draft.headers}
          onChange={(headers) => set({ headers })}
          hint={
            endpoint?.git
              ? // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder as users write it
                'They are written to git as they stand here: write a secret as its placeholder, such as ${SVC_SECRET_TOKEN}.'
              : 'Sent along with each message, for example Authorization.'
          }
        />
      )}
    </>
  );
};
