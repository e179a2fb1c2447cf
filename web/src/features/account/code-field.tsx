import { useState } from 'react';
import { Field } from '../../ui/form/field.tsx';

interface Props {
  value: string;
  onChange: (value: string) => void;
}

/** Six digits of an authenticator app; without it, one of the backup codes. */
export const CodeField = ({ value, onChange }: Props) => {
  const [backup, setBackup] = useState(false);
  return (
    <div className="code-field">
      {backup ? (
        <Field
          key="backup"
          label="Backup code"
          value={value}
          onChange={onChange}
          autoComplete="off"
          hint="One of those that you kept when you set up two-factor. Each works once."
          maxLength={32}
          mono
          required
          autoFocus
        />
      ) : (
        <Field
          key="app"
          label="Code"
          value={value}
          onChange={onChange}
          autoComplete="one-time-code"
          inputMode="numeric"
          hint="Six digits from your authenticator app."
          maxLength={32}
          mono
          required
          autoFocus
        />
      )}
      <button
        type="button"
        className="link-button"
        onClick={() => {
          setBackup(!backup);
          onChange('');
        }}
      >
        {backup ? 'Use the authenticator app' : 'Use a backup code'}
      </button>
    </div>
  );
};
