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
  maxLength?: number;
  /** Texts that are offered; any other may be typed. */
  list?: readonly string[];
  /** Which keys a phone offers. */
  inputMode?: 'decimal' | 'numeric';
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
  list,
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
        list={list && `${id}-list`}
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
      {list && (
        <datalist id={`${id}-list`}>
          {list.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
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

interface TextAreaProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  rows?: number;
  hint?: string;
  /** What is wrong with the value; empty when nothing is. */
  problem?: string;
  placeholder?: string;
  maxLength?: number;
  required?: boolean;
  autoFocus?: boolean;
  mono?: boolean;
}

/** Several lines. */
export const TextAreaField = ({
  label,
  value,
  onChange,
  hint,
  problem,
  mono,
  rows = 3,
  autoFocus,
  ...rest
}: TextAreaProps) => {
  const id = useId();
  const note = problem || hint;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        {...rest}
        id={id}
        value={value}
        rows={rows}
        className={mono ? 'mono' : undefined}
        onChange={(event) => onChange(event.target.value)}
        aria-invalid={problem ? true : undefined}
        aria-describedby={note ? `${id}-note` : undefined}
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
