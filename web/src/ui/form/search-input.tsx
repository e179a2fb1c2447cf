import { TextInput } from '@mantine/core';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { Icon } from '../primitives/icons.tsx';

interface Props {
  label: string;
  placeholder?: string;
  /** From the search parameters. */
  value: string;
  onChange: (value: string) => void;
  /** How long further letters are waited for: where each change asks the server. */
  delayMs?: number;
  maxLength?: number;
  box?: RefObject<HTMLInputElement | null>;
  /** The key that focuses it, shown inside. */
  shortcut?: string;
}

/** A box that filters what is below it. Escape leaves it. */
export const SearchInput = ({ label, placeholder = label, value, onChange, delayMs = 0, ...rest }: Props) => {
  const own = useRef<HTMLInputElement>(null);
  const { maxLength, box = own, shortcut } = rest;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The value follows what is typed a moment later; an input bound to it would lose letters.
  const [text, setText] = useState(value);
  useEffect(() => {
    if (document.activeElement !== box.current) setText(value);
  }, [value, box]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <TextInput
      ref={box}
      type="search"
      className="filter"
      aria-label={label}
      placeholder={placeholder}
      maxLength={maxLength}
      leftSection={<Icon name="search" size={14} />}
      rightSection={shortcut && <kbd>{shortcut}</kbd>}
      value={text}
      onChange={(event) => {
        const next = event.target.value;
        setText(next);
        clearTimeout(timer.current);
        if (delayMs === 0) onChange(next);
        else timer.current = setTimeout(() => onChange(next), delayMs);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
};
