import { type ChangeEvent, type ReactNode, useId } from 'react';

interface TextProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  /** What is wrong with the value; empty when nothing is. */
  problem?: string;
  placeholder?: string;
  required?: boolean;
  autoFocus?: boolean;
  mono?: boolean;
  maxLength?: number;
}

interface Props extends TextProps {
  type?: 'text' | 'email' | 'password' | 'number';
  autoComplete?: string;
  /** Texts that are offered; any other may be typed. */
  list?: readonly string[];
  /** Which keys a phone offers. */
  inputMode?: 'decimal' | 'numeric';
}

interface FrameProps extends Pick<TextProps, 'label' | 'hint' | 'problem'> {
  id: string;
  children: ReactNode;
}

const noteId = (id: string): string => `${id}-note`;

/** The label above, and the hint or the problem below. */
const Framed = ({ id, label, hint, problem, children }: FrameProps) => (
  <div className="field">
    <label htmlFor={id}>{label}</label>
    {children}
    {(problem || hint) && (
      <span id={noteId(id)} className={problem ? 'field-problem' : 'field-hint'}>
        {problem || hint}
      </span>
    )}
  </div>
);

/** What an input and a text area have alike. */
const typedInto = (id: string, { value, onChange, hint, problem, mono, autoFocus }: TextProps) => ({
  id,
  value,
  className: mono ? 'mono' : undefined,
  onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange(event.target.value),
  'aria-invalid': problem ? true : undefined,
  'aria-describedby': problem || hint ? noteId(id) : undefined,
  // Dialogs look for this mark to place the focus.
  'data-autofocus': autoFocus || undefined,
});

/** A labelled input whose hint and problem are read out with it. */
export const Field = (props: Props) => {
  const id = useId();
  const { label, hint, problem, type = 'text', list, autoFocus } = props;
  const { placeholder, required, maxLength, autoComplete, inputMode } = props;
  return (
    <Framed id={id} label={label} hint={hint} problem={problem}>
      <input
        {...{ placeholder, required, maxLength, autoComplete, inputMode }}
        {...typedInto(id, props)}
        list={list && `${id}-list`}
        type={type}
        // biome-ignore lint/a11y/noAutofocus: only on the sign-in page, whose one purpose is this form.
        autoFocus={autoFocus}
      />
      {list && (
        <datalist id={`${id}-list`}>
          {list.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
    </Framed>
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
    <Framed id={id} label={label} hint={hint}>
      <select
        id={id}
        value={value}
        aria-describedby={hint ? noteId(id) : undefined}
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
    </Framed>
  );
}

/** Of what people make: every such name has at most 100 characters. */
export const NameField = (
  props: Omit<Props, 'label' | 'type' | 'required' | 'autoComplete' | 'maxLength'>,
) => <Field label="Name" required autoComplete="off" maxLength={100} {...props} />;

/** Several lines. */
export const TextAreaField = ({ rows = 3, ...props }: TextProps & { rows?: number }) => {
  const id = useId();
  const { label, hint, problem, placeholder, required, maxLength } = props;
  return (
    <Framed id={id} label={label} hint={hint} problem={problem}>
      <textarea {...{ placeholder, required, maxLength }} {...typedInto(id, props)} rows={rows} />
    </Framed>
  );
};
