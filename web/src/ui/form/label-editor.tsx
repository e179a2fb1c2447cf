import { Autocomplete, Input } from '@mantine/core';
import { useId } from 'react';
import { Button, IconButton } from '../primitives/button.tsx';
import { MONO_INPUT } from './field.tsx';
import type { LabelRow } from './label-rows.ts';
import { useRowFocus } from './row-focus.ts';

const MAX_ROWS = 64;
const MAX_KEY = 128;
const MAX_VALUE = 256;

interface Props {
  legend: string;
  /** What one is called on the buttons: `label`, `pair`. */
  noun: string;
  rows: readonly LabelRow[];
  onChange: (rows: LabelRow[]) => void;
  disabled?: boolean;
  hint?: string;
  /** Texts that are offered; any other may be typed. */
  suggest?: Suggestions;
}

export interface Suggestions {
  keys: readonly string[];
  valuesOf: (key: string) => readonly string[];
}

const MAX_OFFERED = 50;

interface TextProps {
  label: string;
  value: string;
  maxLength: number;
  placeholder: string;
  onChange: (value: string) => void;
  list: readonly string[] | undefined;
}

const LabelText = ({ label, list, onChange, ...rest }: TextProps) =>
  list ? (
    <Autocomplete
      classNames={MONO_INPUT}
      aria-label={label}
      data={[...new Set(list)]}
      limit={MAX_OFFERED}
      comboboxProps={{ withinPortal: false }}
      onChange={onChange}
      {...rest}
    />
  ) : (
    <Input
      classNames={MONO_INPUT}
      aria-label={label}
      onChange={(event) => onChange(event.target.value)}
      {...rest}
    />
  );

/** Pairs of key and value. */
export const LabelEditor = ({ legend, noun, rows, onChange, disabled, hint, suggest }: Props) => {
  const id = useId();
  const { frame, added, removed } = useRowFocus<HTMLFieldSetElement>(rows.length);
  const set = (index: number, row: LabelRow): void =>
    onChange(rows.map((old, at) => (at === index ? row : old)));
  return (
    <fieldset
      ref={frame}
      className="label-editor"
      aria-describedby={hint ? `${id}-note` : undefined}
      disabled={disabled}
    >
      <legend>{legend}</legend>
      {rows.map(([key, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: keys are being typed, so that only the place stays.
        <div key={index} className="label-row" data-row>
          <LabelText
            label={`Key of ${noun} ${index + 1}`}
            value={key}
            maxLength={MAX_KEY}
            placeholder="key"
            list={suggest?.keys}
            onChange={(next) => set(index, [next, value])}
          />
          <span aria-hidden="true">=</span>
          <LabelText
            label={`Value of ${noun} ${index + 1}`}
            value={value}
            maxLength={MAX_VALUE}
            placeholder="value"
            list={suggest?.valuesOf(key)}
            onChange={(next) => set(index, [key, next])}
          />
          <IconButton
            icon="cross"
            size={12}
            label={`Remove ${noun} ${index + 1}`}
            onClick={() => {
              removed(index);
              onChange(rows.filter((_, at) => at !== index));
            }}
          />
        </div>
      ))}
      <Button
        icon="plus"
        size="small"
        data-add
        disabled={rows.length >= MAX_ROWS}
        onClick={() => {
          added();
          onChange([...rows, ['', '']]);
        }}
      >
        Add a {noun}
      </Button>
      {hint && (
        <span id={`${id}-note`} className="field-hint">
          {hint}
        </span>
      )}
    </fieldset>
  );
};
