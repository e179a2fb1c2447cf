import { useEffect, useRef, useState } from 'react';
import { useAddressParam } from '../app/address.ts';
import { Icon } from './icons.tsx';

/** A filter box whose text stands in the address. */
export const TextFilter = ({ param, label }: { param: string; label: string }) => {
  const [wanted, setWanted] = useAddressParam(param, { replace: true });
  const box = useRef<HTMLInputElement>(null);
  // The address follows what is typed a moment later; an input bound to it would lose letters.
  const [text, setText] = useState(wanted);
  useEffect(() => {
    if (document.activeElement !== box.current) setText(wanted);
  }, [wanted]);
  return (
    <label className="filter">
      <span className="sr-only">{label}</span>
      <Icon name="search" size={14} />
      <input
        ref={box}
        type="search"
        value={text}
        placeholder={label}
        onChange={(event) => {
          setText(event.target.value);
          setWanted(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
    </label>
  );
};
