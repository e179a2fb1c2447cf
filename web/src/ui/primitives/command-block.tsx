import { useState } from 'react';
import { Button } from './button.tsx';

/** Lines for a terminal, with a button that copies them. */
export const CommandBlock = ({ label, lines }: { label: string; lines: readonly string[] }) => {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(lines.join('\n'));
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <section className="command" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so the keyboard must reach it. */}
      <pre className="mono" tabIndex={0}>
        {lines.join('\n')}
      </pre>
      <Button icon={copied ? 'check' : 'copy'} size="small" onClick={() => void copy()}>
        {copied ? 'Copied' : 'Copy'}
        <span className="sr-only"> {label}</span>
      </Button>
    </section>
  );
};
