import { Group, Stack } from '@mantine/core';
/** Asks before something is left that was typed or drawn and is not saved: by a link, by Back, or by closing the page. */
import { useEffect } from 'react';
import { useBlocker } from 'react-router';
import { Button } from '../primitives/button.tsx';
import { Dialog } from '../primitives/dialog.tsx';

interface Props {
  unsaved: boolean;
  /** What would be lost, as a sentence. */
  text: string;
  /** What the address asks for beside the path may change: tabs of the same page. */
  pathOnly?: boolean;
  /** Offers to save and go on; resolves to whether it was saved. */
  save?: () => Promise<boolean>;
  saving?: boolean;
}

export const UnsavedGuard = ({ unsaved, text, pathOnly = false, save, saving = false }: Props) => {
  const blocker = useBlocker(
    ({ currentLocation: here, nextLocation: there }) =>
      unsaved && (here.pathname !== there.pathname || (!pathOnly && here.search !== there.search)),
  );
  useEffect(() => {
    if (!unsaved) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [unsaved]);
  const stay = (): void => {
    if (blocker.state === 'blocked') blocker.reset();
  };
  return (
    <Dialog title="Leave without saving?" opened={blocker.state === 'blocked'} close={stay} size="sm">
      <Stack gap="lg">
        <p>{text}</p>
        <Group gap="sm" justify="flex-end">
          <Button onClick={stay} data-autofocus>
            Stay
          </Button>
          <Button kind="danger" onClick={() => blocker.proceed?.()}>
            Leave
          </Button>
          {save && (
            <Button
              kind="primary"
              disabled={saving}
              onClick={async () => {
                if (await save()) blocker.proceed?.();
                else stay();
              }}
            >
              Save and leave
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
};
