import { useState } from 'react';
import { Icon } from './icons.tsx';

interface Props {
  /** Asked for when it is pressed. */
  text: () => string;
  /** Such as `Copy the line`. */
  label: string;
  className: string;
  tabIndex?: number;
}

const TOLD_MS = 1_500;

/** A small mark in a row that copies what the row shows. */
export const CopyButton = ({ text, label, className, tabIndex }: Props) => {
  const [copied, setCopied] = useState(false);
  return (
    <button
      type="button"
      className={className}
      tabIndex={tabIndex}
      aria-label={copied ? 'Copied' : label}
      onClick={() => {
        void navigator.clipboard.writeText(text()).then(() => {
          setCopied(true);
          setTimeout(() => setCopied(false), TOLD_MS);
        });
      }}
    >
      <Icon name={copied ? 'check' : 'copy'} size={12} />
    </button>
  );
};
