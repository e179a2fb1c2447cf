import { Affix, Group, Notification, Stack } from '@mantine/core';
import '@mantine/core/styles/Affix.css';
import '@mantine/core/styles/Notification.css';
import { useEffect, useSyncExternalStore } from 'react';
import { Badge } from '../primitives/badge.tsx';
import { Button } from '../primitives/button.tsx';
import { createNotes, type Note } from './notes.ts';

/** A note with an action stays as long as somebody needs to read it and to reach it. */
const SHOWN_MS = 8_000;
const SHOWN_WITH_ACTION_MS = 30_000;

const notes = createNotes();

export const showNote = notes.add;

/** Pointing at a note does not stop its time: what it reports stands on the page as well. */
function Toast({ note }: { note: Note }) {
  const { id, text, tone, action } = note;
  const hide = () => notes.remove(id);
  useEffect(() => {
    const timer = setTimeout(() => notes.remove(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, action]);
  return (
    <Notification
      // Not an alert: the layer around all of them is the live region.
      role="group"
      withBorder
      color={`var(--${tone})`}
      closeButtonProps={{ 'aria-label': 'Close the note' }}
      onClose={hide}
    >
      <Group gap="sm" wrap="nowrap" align="center">
        <Badge tone={tone}>{tone === 'failed' ? 'Failed' : 'Done'}</Badge>
        <span>{text}</span>
        {action && (
          <Button
            size="small"
            onClick={() => {
              hide();
              action.run();
            }}
          >
            {action.word}
          </Button>
        )}
      </Group>
    </Notification>
  );
}

export function NotificationLayer() {
  const shown = useSyncExternalStore(notes.subscribe, notes.list);
  return (
    <Affix
      position={{ bottom: 16, right: 'var(--notes-right)' }}
      withinPortal={false}
      maw="calc(100vw - var(--notes-right) - 1rem)"
    >
      <Stack gap="sm">
        {shown.map((note) => (
          <Toast key={note.id} note={note} />
        ))}
      </Stack>
    </Affix>
  );
}
