import { Autocomplete, NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { ChangeEvent } from 'react';

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
  type?: 'text' | 'email' | 'password' | 'number' | 'datetime-local';
  autoComplete?: string;
  /** Texts that are offered; any other may be typed. */
  list?: readonly string[];
  /** Which keys a phone offers. */
  inputMode?: 'decimal' | 'numeric';
}

/** For text that is code: the class of the input itself, not of what is around it. */
export const MONO_INPUT = { input: 'mono' };

/** What an input and a text area have alike. */
const inputProps = ({ onChange, hint, problem, mono, autoFocus, ...rest }: TextProps) => ({
  ...rest,
  description: problem ? undefined : hint,
  error: problem || undefined,
  classNames: mono ? MONO_INPUT : undefined,
  onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange(event.target.value),
  // Dialogs look for this mark to place the focus.
  'data-autofocus': autoFocus || undefined,
  autoFocus,
});

/** A labelled input whose hint and problem are read out with it. */
export const Field = ({ list, ...props }: Props) =>
  list ? (
    <Autocomplete
      {...inputProps(props)}
      onChange={props.onChange}
      data={[...list]}
      comboboxProps={{ withinPortal: false }}
    />
  ) : (
    <TextInput {...inputProps(props)} />
  );

interface SelectProps<V extends string> {
  label: string;
  value: V;
  onChange: (value: V) => void;
  options: readonly { value: V; word: string }[];
  hint?: string;
}

export const SelectField = <V extends string>({ label, value, onChange, options, hint }: SelectProps<V>) => (
  <NativeSelect
    label={label}
    value={value}
    description={hint}
    data={options.map((option) => ({ value: option.value, label: option.word }))}
    onChange={(event) => {
      const chosen = options.find((option) => option.value === event.target.value);
      if (chosen) onChange(chosen.value);
    }}
  />
);

/** Of what people make: every such name has at most 100 characters. */
export const NameField = (
  props: Omit<Props, 'label' | 'type' | 'required' | 'autoComplete' | 'maxLength'>,
) => <Field label="Name" required autoComplete="off" maxLength={100} {...props} />;

/** Several lines. */
export const TextAreaField = ({ rows = 3, ...props }: TextProps & { rows?: number }) => (
  <Textarea {...inputProps(props)} rows={rows} />
);
