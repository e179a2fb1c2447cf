import { useId } from 'react';

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'email' | 'password' | 'number';
  hint?: string;
  /** What is wrong with the value; empty when nothing is. */
  problem?: string;
  autoComplete?: string;
  placeholder?: string;
  required?: boolean;
  autoFocus?: boolean;
  mono?: boolean;
}

/** A labelled input whose hint and problem are read out with it. */
export const Field = ({
  label,
  value,
  onChange,
  hint,
  problem,
  mono,
  type = 'text',
  autoFocus,
  ...rest
}: Props) => {
  const id = useId();
  const note = problem || hint;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...rest}
        id={id}
        type={type}
        value={value}
        className={mono ? 'mono' : undefined}
        onChange={(event) => onChange(event.target.value)}
        aria-invalid={problem ? true : undefined}
        aria-describedby={note ? `${id}-note` : undefined}
        // biome-ignore lint/a11y/noAutofocus: only on the sign-in page, whose one purpose is this form.
        autoFocus={autoFocus}
        // Dialogs look for this mark to place the focus.
        data-autofocus={autoFocus || undefined}
      />
      {note && (
        <span id={`${id}-note`} className={problem ? 'field-problem' : 'field-hint'}>
          {note}
        </span>
      )}
    </div>
  );
};

interface SelectProps<V extends string> {
  label: string;
  value: V;
  onChange: (value: V) => void;
  options: readonly { value: V; word: string }[];
  hint?: string;
}

export function SelectField<V extends string>({ label, value, onChange, options, hint }: SelectProps<V>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={hint ? `${id}-note` : undefined}
        onChange={(event) => {
          const chosen = options.find((option) => option.value === event.target.value);
          if (chosen) onChange(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.word}
          </option>
        ))}
      </select>
      {hint && (
        <span id={`${id}-note`} className="field-hint">
          {hint}
        </span>
      )}
    </div>
  );
}
