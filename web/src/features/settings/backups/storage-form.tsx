import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { BackupSettingsView, StorageBackend } from '../../../../../schemas/api/backups.ts';
import { api } from '../../../api/client.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { InlineError } from '../../../ui/feedback/page-states.tsx';
import { Field } from '../../../ui/form/field.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { RadioField } from '../../../ui/form/radio-field.tsx';
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
  const [backend, setBackend] = useState<StorageBackend>(current);
  const [bucket, setBucket] = useState(s3?.bucket ?? '');
  const [region, setRegion] = useState(s3?.region ?? '');
  const [prefix, setPrefix] = useState(s3?.prefix ?? '');
  const [endpoint, setEndpoint] = useState(s3?.endpoint ?? '');
  const [accessKeyId, setAccessKeyId] = useState(s3?.accessKeyId ?? '');
  const [secret, setSecret] = useState('');
  const connection = {
    ...{ bucket: bucket.trim(), region: region.trim(), accessKeyId: accessKeyId.trim() },
    secretAccessKey: secret === '' ? MASK : secret,
    ...(prefix.trim() ? { prefix: prefix.trim() } : {}),
    ...(endpoint.trim() ? { endpoint: endpoint.trim() } : {}),
  };
  const isComplete =
    connection.bucket && connection.region && connection.accessKeyId && (secret || s3 !== null);
  const save = useBackupMutation({
    run: () =>
      api.settings.updateStorageBackend.mutate(
        backend === 'local' ? { backend } : { backend, ...connection },
      ),
    done: () => 'New backups are stored there.',
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
        <RadioField label="Backups are stored in" value={backend} options={BACKENDS} onChange={setBackend} />
        {backend === 'local' && (
          <Notice tone="held" icon="warning">
            A folder protects from mistakes and not from the loss of the disk: copy the files elsewhere.
          </Notice>
        )}
        {backend === 's3' && (
          <>
            <FieldPair>
              <Field label="Bucket" value={bucket} onChange={setBucket} required mono maxLength={63} />
              <Field
                label="Region"
                value={region}
                onChange={setRegion}
                required
                mono
                maxLength={60}
                placeholder="eu-central-1"
              />
            </FieldPair>
            <FieldPair>
              <Field
                label="Prefix"
                value={prefix}
                onChange={setPrefix}
                mono
                maxLength={200}
                hint="Before each name."
              />
              <Field
                label="Endpoint"
                value={endpoint}
                onChange={setEndpoint}
                mono
                maxLength={2_000}
                placeholder="https://…"
                hint="Of another store than AWS."
              />
            </FieldPair>
            <FieldPair>
              <Field
                label="Access key ID"
                value={accessKeyId}
                onChange={setAccessKeyId}
                required
                mono
                maxLength={200}
                autoComplete="off"
              />
              <Field
                label="Secret access key"
                type="password"
                value={secret}
                onChange={setSecret}
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
