import { Modal } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';

interface Props {
  title: string;
  opened: boolean;
  close: () => void;
  children: ReactNode;
  size?: 'sm' | 'md' | 'lg' | 'xl';
}

/** What had the focus before the dialog that was opened last: where one gives way to another, it is the same for both. */
let opener: Element | null = null;

/** A dialog that is taken away while it is open gives the focus back as one does that closes. */
function useFocusBack(opened: boolean): void {
  useEffect(() => {
    if (!opened) return;
    if (document.activeElement !== document.body) opener = document.activeElement;
    const before = opener;
    return () => {
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        // What it was opened from may be gone with what it was about.
        const target = before?.isConnected ? before : document.getElementById('main');
        if (target instanceof HTMLElement) target.focus({ preventScroll: true });
      });
    };
  }, [opened]);
}

/** A dialog that holds the focus until it is closed. Its head is no `<header>`: the page has its one banner. */
export const Dialog = ({ title, opened, close, children, size = 'md' }: Props) => {
  // What had the focus is noted when it opens, not when it comes: one that is open from the start could not give it back.
  const [isThere, setThere] = useState(false);
  useEffect(() => setThere(true), []);
  useFocusBack(opened);
  return (
    <Modal.Root
      opened={opened && isThere}
      onClose={close}
      size={size}
      centered
      transitionProps={{ duration: 120 }}
    >
      <Modal.Overlay backgroundOpacity={0.45} />
      <Modal.Content radius={6}>
        <div className="dialog-head">
          <Modal.Title>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
};
