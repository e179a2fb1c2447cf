import { Group } from '@mantine/core';
import '@mantine/core/styles/Notification.css';
import { Notifications, notifications } from '@mantine/notifications';
import '@mantine/notifications/styles.css';
import { Badge } from './badge.tsx';
import { Button } from './button.tsx';
import type { Tone } from './tone.ts';

interface Note {
  text: string;
  action?: { word: string; run: () => void };
  tone: Tone;
}

/** A note with an action stays as long as somebody needs to read it and to reach it. */
const SHOWN_MS = 8_000;
const SHOWN_WITH_ACTION_MS = 30_000;
const MAX_SHOWN = 3;

export function showNote({ text, action, tone }: Note): void {
  const id: string = notifications.show({
    // The layer around all of them is the live region.
    role: undefined,
    autoClose: action ? SHOWN_WITH_ACTION_MS : SHOWN_MS,
    withBorder: true,
    closeButtonProps: { 'aria-label': 'Close the note' },
    color: `var(--${tone})`,
    message: (
      <Group gap="sm" wrap="nowrap" align="center">
        <Badge tone={tone}>{tone === 'failed' ? 'Failed' : 'Done'}</Badge>
        <span>{text}</span>
        {action && (
          <Button
            size="small"
            onClick={() => {
              notifications.hide(id);
              action.run();
            }}
          >
            {action.word}
          </Button>
        )}
      </Group>
    ),
  });
}

export const NotificationLayer = () => (
  <Notifications withinPortal={false} limit={MAX_SHOWN} position="bottom-right" />
);
