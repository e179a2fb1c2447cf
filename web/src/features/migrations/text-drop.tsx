/** A text that is pasted, typed, dropped as a file or chosen as one. */
import { FileButton } from '@mantine/core';
import { type DragEvent, useState } from 'react';
import { CodeField } from '../../ui/code/lazy-code.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';

interface Props {
  label: string;
  value: string;
  onChange: (text: string, fileName: string | null) => void;
  maxBytes: number;
  accept: string;
}

export const TextDrop = ({ label, value, onChange, maxBytes, accept }: Props) => {
  const [isOver, setOver] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const take = async (file: File | null | undefined): Promise<void> => {
    if (!file) return;
    if (file.size > maxBytes) {
      setError(
        new Error(
          `${file.name} has ${file.size} bytes, the limit is ${maxBytes}; bring its parts one by one`,
        ),
      );
      return;
    }
    setError(null);
    onChange(await file.text(), file.name);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  };
  return (
    <section
      className="text-drop"
      aria-label={`${label}: paste it, or drop a file`}
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <header className="text-drop-head">
        <p className="muted">Paste the text, or drop a file here.</p>
        <FileButton accept={accept} onChange={(file) => void take(file)}>
          {(props) => (
            <Button icon="folder" size="small" {...props}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </header>
      <CodeField label={label} language="yaml" value={value} onChange={(text) => onChange(text, null)} />
      {error && <InlineError error={error} />}
    </section>
  );
};
