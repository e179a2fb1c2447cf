import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  CertificateFileType,
  CertificateSummary,
} from '../../../../schemas/api/secrets/certificates.ts';
import { api } from '../../api/client.ts';
import { isProduction, usePlace } from '../../app/scope.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Field, NameField, SelectField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Copyable } from '../../ui/primitives/copyable.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { plural, sentence } from '../../ui/text/format.ts';
import { CertificateFacts } from './certificate-facts.tsx';
import { base64Of, NO_PEM, type Pem, PemField, pemProblem } from './pem-field.tsx';
import { Restarts } from './restarts.tsx';

export type CertificateAction =
  | { kind: 'upload' }
  | { kind: 'replace'; certificate: CertificateSummary }
  | { kind: 'show'; certificate: CertificateSummary }
  | { kind: 'delete'; certificate: CertificateSummary };

interface Props {
  action: CertificateAction | null;
  close: () => void;
}

export const FILE_TYPES = [
  { value: 'ca', word: 'Authorities (ca)' },
  { value: 'cert', word: 'Certificate with its chain (cert)' },
  { value: 'key', word: 'Private key (key)' },
] as const satisfies readonly { value: CertificateFileType; word: string }[];

const FILENAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

const titleOf = (action: CertificateAction): string => {
  if (action.kind === 'upload') return 'Upload a certificate';
  const { name, filename } = action.certificate;
  if (action.kind === 'replace') return `Replace ${filename}`;
  return action.kind === 'delete' ? `Delete ${filename}` : `${name}: ${filename}`;
};

export const CertificateDialog = ({ action, close }: Props) => (
  <Dialog
    title={action ? titleOf(action) : ''}
    opened={action !== null}
    close={close}
    size={action?.kind === 'show' ? 'lg' : 'md'}
  >
    {action?.kind === 'upload' && <UploadForm certificate={null} close={close} />}
    {action?.kind === 'replace' && <UploadForm certificate={action.certificate} close={close} />}
    {action?.kind === 'show' && <CertificateFacts certificate={action.certificate} />}
    {action?.kind === 'delete' && <DeleteForm certificate={action.certificate} close={close} />}
  </Dialog>
);

interface UploadProps {
  /** The one whose content is replaced; null makes another. */
  certificate: CertificateSummary | null;
  close: () => void;
}

const UploadForm = ({ certificate, close }: UploadProps) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const [name, setName] = useState(certificate?.name ?? '');
  const [filename, setFilename] = useState(certificate?.filename ?? '');
  const [fileType, setFileType] = useState<CertificateFileType>(certificate?.fileType ?? 'ca');
  const [pem, setPem] = useState<Pem>(NO_PEM);
  const upload = useMutation({
    mutationFn: () =>
      api.certificate.upload.mutate({
        environmentId: environment.id,
        name: name.trim(),
        filename,
        fileType,
        dataBase64: base64Of(pem),
      }),
    onSuccess: async (uploaded) => {
      await queryClient.invalidateQueries({ queryKey: ['certificate.list', environment.id] });
      const done = uploaded.replaced ? 'replaced' : 'uploaded';
      if (uploaded.warning)
        notify(`${filename} was ${done}. ${sentence(uploaded.warning)}`, undefined, 'held');
      else if (uploaded.expired)
        notify(`${filename} was ${done}. Mind that it has expired.`, undefined, 'held');
      else notify(`${filename} was ${done}.`);
      close();
    },
  });
  const choose = (next: Pem): void => {
    setPem(next);
    if (certificate) return;
    if (next.from && !filename) setFilename(next.from.replaceAll(/[^A-Za-z0-9._-]/g, '-'));
    if (next.text.includes(' PRIVATE KEY-----')) setFileType('key');
    else if (fileType === 'key' && next.text.includes('-----BEGIN CERTIFICATE-----')) setFileType('cert');
  };
  const filenameProblem =
    filename && !FILENAME.test(filename)
      ? 'Letters, digits, dot, dash and underscore; begin with a letter, a digit or an underscore.'
      : '';
  return (
    <MutationForm
      mutation={upload}
      close={close}
      submit={certificate ? 'Replace the file' : 'Upload the file'}
      working="Uploading…"
      disabled={!pem.text || pemProblem(pem) !== '' || !name.trim() || !filename || filenameProblem !== ''}
      autoComplete="off"
    >
      <PemField value={pem} onChange={choose} />
      {!certificate && (
        <>
          <SelectField label="What it is" value={fileType} onChange={setFileType} options={FILE_TYPES} />
          <NameField
            value={name}
            onChange={setName}
            hint="Give a certificate and its key the same one: it is then checked that they belong together."
          />
          <Field
            label="File name"
            value={filename}
            onChange={setFilename}
            mono
            required
            autoComplete="off"
            problem={filenameProblem}
            hint={`Configs write \${SVC_CERT_DIR}/${filename || 'ca.pem'}`}
          />
        </>
      )}
      {certificate && <Restarts pipelines={certificate.usedBy} />}
    </MutationForm>
  );
};

const DeleteForm = ({ certificate, close }: { certificate: CertificateSummary; close: () => void }) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const { id, filename, usedBy } = certificate;
  const mustConfirm = isProduction(environment);
  const remove = useMutation({
    mutationFn: () => api.certificate.delete.mutate({ id, environmentId: environment.id }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['certificate.list', environment.id] });
      close();
    },
  });
  return (
    <MutationForm
      mutation={remove}
      close={close}
      submit="Delete the file"
      working="Deleting…"
      danger
      disabled={usedBy.length > 0}
      confirm={mustConfirm ? filename : null}
      confirmField={{ mono: true }}
    >
      <p>
        This deletes <strong className="mono">{filename}</strong> from {environment.name}. Headgate cannot
        give its content back.
      </p>
      <p>
        {usedBy.length === 0
          ? 'Nothing that is deployed refers to it.'
          : `${plural(usedBy.length, 'deployed pipeline refers', 'deployed pipelines refer')} to it and must let go of it first: ${usedBy.join(', ')}.`}
      </p>
    </MutationForm>
  );
};

/** What a config writes to mean the file. */
export const Reference = ({ certificate }: { certificate: CertificateSummary }) => (
  <Copyable value={certificate.reference} label="reference" />
);
