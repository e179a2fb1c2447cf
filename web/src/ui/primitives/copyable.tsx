import { type ReactNode, useState } from 'react';
import { shortCommit } from '../text/format.ts';
import { Icon } from './icons.tsx';

/** Text that a click copies. `label` says what is copied. */
export const Copyable = ({
  value,
  label,
  children,
}: {
  value: string;
  label: string;
  children?: ReactNode;
}) => {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button
      type="button"
      className="copyable mono"
      data-tip={copied ? 'Copied' : `${value} (click copies)`}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        void copy();
      }}
    >
      <span className="sr-only">Copy {label} </span>
      <span className="copyable-text">{children ?? value}</span>
      <span className="copyable-mark" aria-hidden="true">
        <Icon name={copied ? 'check' : 'copy'} size={12} />
      </span>
      <span role="status" className="sr-only">
        {copied ? 'Copied' : ''}
      </span>
    </button>
  );
};

/** A commit's first seven characters; the whole one is copied. */
export const Commit = ({ sha }: { sha: string }) => (
  <Copyable value={sha} label="commit">
    {shortCommit(sha)}
  </Copyable>
);

/** The end of an id, which is the part that differs. */
export const ShortId = ({ id }: { id: string }) => (
  <Copyable value={id} label="id">
    {id.length > 10 ? `…${id.slice(-8)}` : id}
  </Copyable>
);
