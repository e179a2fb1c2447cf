import { useEffect, useRef, useState } from 'react';
import { CommandBlock } from '../../components/command-block.tsx';
import { Icon } from '../../components/icons.tsx';

interface Props {
  codes: readonly string[];
  done: () => void;
}

const asFile = (codes: readonly string[]): string =>
  `Backup codes of Headgate at ${window.location.host}. Each works once.\n\n${codes.join('\n')}\n`;

/** Shown once: whoever goes on says that they are kept. */
export const BackupCodes = ({ codes, done }: Props) => {
  const [kept, setKept] = useState(false);
  const check = useRef<HTMLInputElement>(null);
  // They take the place of a form that had the focus.
  useEffect(() => check.current?.focus(), []);
  const save = (): void => {
    const address = URL.createObjectURL(new Blob([asFile(codes)], { type: 'text/plain' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = 'headgate-backup-codes.txt';
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        done();
      }}
    >
      <p role="status">
        Keep these backup codes where you find them without your phone. Each signs you in once in place of a
        code of the app. They are shown <strong>only once</strong>.
      </p>
      <CommandBlock label="the backup codes" lines={codes} />
      <button type="button" className="button form-aside" onClick={save}>
        <Icon name="download" size={14} /> Download them as a file
      </button>
      <label className="check">
        <input
          ref={check}
          type="checkbox"
          checked={kept}
          data-autofocus
          onChange={(event) => setKept(event.target.checked)}
        />
        <span>I have kept them</span>
      </label>
      <div className="form-actions">
        <button type="submit" className="button" data-kind="primary" disabled={!kept}>
          Done
        </button>
      </div>
    </form>
  );
};
