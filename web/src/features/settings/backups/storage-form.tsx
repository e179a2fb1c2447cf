import { useMutation } from '@tanstack/react-query';
import type { BackupSettingsView } from '../../../../../schemas/api/backups.ts';
import { api } from '../../../api/client.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { InlineError } from '../../../ui/feedback/page-states.tsx';
import { DraftField } from '../../../ui/form/draft-fields.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { RadioField } from '../../../ui/form/radio-field.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Button } from '../../../ui/primitives/button.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { useBackupMutation } from './backup-mutation.ts';

/** Stands for the secret that is stored. */
const MASK = '********';

const BACKENDS = [
  { value: 'local', word: 'A folder', hint: 'The folder “backups” in the data directory of the controller.' },
  { value: 's3', word: 'A bucket (S3)', hint: 'AWS, or any store that speaks its protocol.' },
] as const;

export const StorageForm = ({ settings: { backend: current, s3 } }: { settings: BackupSettingsView }) => {
  const of = useDraft({
    backend: current,
    bucket: s3?.bucket ?? '',
    region: s3?.region ?? '',
    prefix: s3?.prefix ?? '',
    endpoint: s3?.endpoint ?? '',
    accessKeyId: s3?.accessKeyId ?? '',
    secret: '',
  });
  const { backend, bucket, region, prefix, endpoint, accessKeyId, secret } = of.draft;
  const connection = {
    ...{ bucket: bucket.trim(), region: region.trim(), accessKeyId: accessKeyId.trim() },
    secretAccessKey: secret === '' ? MASK : secret,
    ...(prefix.trim() ? { prefix: prefix.trim() } : {}),
    ...(endpoint.trim() ? { endpoint: endpoint.trim() } : {}),
  };
  const isComplete =
    connection.bucket && connection.region && connection.accessKeyId && (secret || s3 !== null);
  const save = useBackupMutation({
    run: of.sending(() =>
      api.settings.updateStorageBackend.mutate(
        backend === 'local' ? { backend } : { backend, ...connection },
      ),
    ),
    done: () => 'New backups are stored there.',
    after: of.reset,
  });
  const test = useMutation({ mutationFn: () => api.settings.testS3Connection.mutate(connection) });
  return (
    <Section title="Storage">
      <MutationForm
        mutation={save}
        submit="Save the storage"
        working="Saving…"
        disabled={backend === 's3' ? !isComplete : current === 'local'}
        fieldset={{ disabled: false, legend: 'Storage' }}
        autoComplete="off"
      >
        <RadioField
          label="Backups are stored in"
          value={backend}
          options={BACKENDS}
          onChange={(next) => of.set({ backend: next })}
        />
        {backend === 'local' && (
          <Notice tone="held" icon="warning">
            A folder protects from mistakes and not from the loss of the disk: copy the files elsewhere.
          </Notice>
        )}
        {backend === 's3' && (
          <>
            <FieldPair>
              <DraftField of={of} name="bucket" label="Bucket" required maxLength={63} />
              <DraftField
                of={of}
                name="region"
                label="Region"
                required
                maxLength={60}
                placeholder="eu-central-1"
              />
            </FieldPair>
            <FieldPair>
              <DraftField of={of} name="prefix" label="Prefix" maxLength={200} hint="Before each name." />
              <DraftField
                of={of}
                name="endpoint"
                label="Endpoint"
                maxLength={2_000}
                placeholder="https://…"
                hint="Of another store than AWS."
              />
            </FieldPair>
            <FieldPair>
              <DraftField
                of={of}
                name="accessKeyId"
                label="Access key ID"
                required
                maxLength={200}
                autoComplete="off"
              />
              <DraftField
                of={of}
                name="secret"
                mono={false}
                label="Secret access key"
                type="password"
                required={s3 === null}
                maxLength={500}
                autoComplete="new-password"
                hint={s3 === null ? 'It is stored encrypted.' : 'Left empty, the stored one stays.'}
              />
            </FieldPair>
            {test.data && (
              <Notice
                role="status"
                tone={test.data.connected ? 'ok' : 'failed'}
                icon={test.data.connected ? 'check' : 'warning'}
              >
                {test.data.message}.
              </Notice>
            )}
            {test.isError && <InlineError error={test.error} />}
            <div>
              <Button disabled={!isComplete || test.isPending} onClick={() => test.mutate()}>
                {test.isPending ? 'Testing…' : 'Test connection'}
              </Button>
            </div>
          </>
        )}
      </MutationForm>
    </Section>
  );
};
