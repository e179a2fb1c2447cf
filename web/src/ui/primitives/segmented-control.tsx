import { Button } from '@mantine/core';

interface Props<V extends string> {
  label: string;
  value: V | string;
  options: readonly { value: V; word: string }[];
  onChange: (value: V) => void;
}

/** One of a few, all in sight. Pressed buttons instead of radios: a click chooses, arrow keys only move the focus. */
export const SegmentedControl = <V extends string>({ label, value, options, onChange }: Props<V>) => (
  <Button.Group aria-label={label} style={{ flexWrap: 'wrap' }}>
    {options.map((option) => (
      <Button
        key={option.value}
        variant={option.value === value ? 'light' : 'default'}
        aria-pressed={option.value === value}
        onClick={() => onChange(option.value)}
      >
        {option.word}
      </Button>
    ))}
  </Button.Group>
);
