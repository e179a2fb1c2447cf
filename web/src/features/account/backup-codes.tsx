import { Checkbox, Group } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/primitives/button.tsx';
import { CommandBlock } from '../../ui/primitives/command-block.tsx';
import { saveFile } from '../../ui/text/save-file.ts';

interface Props {
  codes: readonly string[];
  done: () => void;
}

const asFile = (codes: readonly string[]): string =>
  `Backup codes of Headgate at ${window.location.host}. Each works once.\n\n${codes.join('\n')}\n`;

/** Shown once: to continue, the user confirms that they are stored. */
export const BackupCodes = ({ codes, done }: Props) => {
  const [kept, setKept] = useState(false);
  const check = useRef<HTMLInputElement>(null);
  // They take the place of a form that had the focus.
  useEffect(() => check.current?.focus(), []);
  const save = (): void => saveFile('headgate-backup-codes.txt', asFile(codes), 'text/plain');
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
      <Button icon="download" className="form-aside" onClick={save}>
        Download them as a file
      </Button>
      <Checkbox
        ref={check}
        checked={kept}
        data-autofocus
        onChange={(event) => setKept(event.target.checked)}
        label="I have kept them"
      />
      <Group gap="sm" justify="flex-end">
        <Button type="submit" kind="primary" disabled={!kept}>
          Done
        </Button>
      </Group>
    </form>
  );
};
