import { Radio, Stack } from '@mantine/core';
import { useId } from 'react';

interface Props<V extends string> {
  label: string;
  value: string;
  options: readonly { value: V; word: string; hint: string }[];
  onChange: (value: V) => void;
}

/** One of a few that need a sentence each. */
export const RadioField = <V extends string>({ label, value, options, onChange }: Props<V>) => {
  const id = useId();
  return (
    <Radio.Group label={label} value={value} name={id}>
      <Stack gap="sm" mt="xs">
        {options.map((option) => (
          <Radio
            key={option.value}
            value={option.value}
            label={option.word}
            description={<span id={`${id}-${option.value}`}>{option.hint}</span>}
            aria-describedby={`${id}-${option.value}`}
            onChange={() => onChange(option.value)}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
};
