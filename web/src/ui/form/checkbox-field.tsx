import { Checkbox } from '@mantine/core';
import { type ReactNode, useId } from 'react';

interface Props {
  label: ReactNode;
  hint?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

/** A checkbox whose hint is read out with it. */
export const CheckboxField = ({ label, hint, checked, onChange }: Props) => {
  const id = useId();
  return (
    <Checkbox
      label={label}
      description={hint && <span id={`${id}-hint`}>{hint}</span>}
      aria-describedby={hint ? `${id}-hint` : undefined}
      checked={checked}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
};
