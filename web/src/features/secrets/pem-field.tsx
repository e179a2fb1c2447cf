import { Button } from '@mantine/core';
import { useId, useState } from 'react';
import { TextAreaField } from '../../ui/form/field.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { formatBytes } from '../../ui/text/format.ts';

/** Of the server. */
const MAX_BYTES = 1024 * 1024;

export interface Pem {
  text: string;
  /** The file that it was read from; empty where it was pasted. */
  from: string;
}

export const NO_PEM: Pem = { text: '', from: '' };

export const sizeOf = ({ text }: Pem): number => new TextEncoder().encode(text).length;

export function pemProblem(pem: Pem): string {
  if (pem.text === '') return '';
  if (sizeOf(pem) > MAX_BYTES) return 'Larger than 1 MiB, which is the limit.';
  return pem.text.includes('-----BEGIN ')
    ? ''
    : 'There is no PEM block in it (-----BEGIN …). A DER file is converted with: openssl x509 -inform der -in FILE';
}

/** As the server takes it. */
export function base64Of({ text }: Pem): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

interface Props {
  value: Pem;
  onChange: (pem: Pem) => void;
}

/** A file of this machine, or pasted text. What came from a file is not drawn: it may be a key. */
export const PemField = ({ value, onChange }: Props) => {
  const id = useId();
  const [failed, setFailed] = useState('');
  const read = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    setFailed(file.size > MAX_BYTES ? `${file.name} is larger than 1 MiB, which is the limit.` : '');
    if (file.size <= MAX_BYTES) onChange({ text: await file.text(), from: file.name });
  };
  const problem = failed || pemProblem(value);
  return (
    <div className="pem">
      {value.from ? (
        <p className="pem-file">
          <Icon name="check" size={14} />
          <span className="mono breakable">{value.from}</span>
          <span className="muted">{formatBytes(sizeOf(value))}</span>
          <Button size="small" onClick={() => onChange(NO_PEM)}>
            Paste instead
          </Button>
        </p>
      ) : (
        <TextAreaField
          label="Content, in PEM form"
          value={value.text}
          onChange={(text) => {
            setFailed('');
            onChange({ text, from: '' });
          }}
          rows={6}
          mono
          placeholder="-----BEGIN CERTIFICATE-----"
          problem={problem}
        />
      )}
      {value.from && problem && <span className="field-problem">{problem}</span>}
      <span className="pem-choose">
        <Button component="label" htmlFor={id}>
          Choose a file
        </Button>
        <input
          id={id}
          type="file"
          className="sr-only"
          accept=".pem,.crt,.cer,.key,.ca"
          onChange={(event) => {
            void read(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
      </span>
    </div>
  );
};
