import { Modal } from '@mantine/core';
import { createContext, type ReactNode, use, useEffect, useState } from 'react';

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

const HoldContext = createContext<(held: boolean) => void>(() => {});

/**
 * Keeps the dialog around it open while something is sent from it: closed, it could say neither that it failed nor what
 * was made, and the answer would close the dialog that is opened next.
 */
export function useHeldOpen(held: boolean): void {
  const hold = use(HoldContext);
  useEffect(() => {
    if (!held) return;
    hold(true);
    return () => hold(false);
  }, [held, hold]);
}

/** A dialog that holds the focus until it is closed. Its head is no `<header>`: the page has its one banner. */
export const Dialog = ({ title, opened, close, children, size = 'md' }: Props) => {
  // What had the focus is noted when it opens, not when it comes: one that is open from the start could not give it back.
  const [isThere, setThere] = useState(false);
  useEffect(() => setThere(true), []);
  const [isHeld, setHeld] = useState(false);
  useFocusBack(opened);
  return (
    <Modal.Root
      opened={opened && isThere}
      onClose={() => {
        if (!isHeld) close();
      }}
      size={size}
      centered
      transitionProps={{ duration: 120 }}
    >
      <Modal.Overlay backgroundOpacity={0.45} />
      <Modal.Content radius={6}>
        <div className="dialog-head">
          <Modal.Title>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" disabled={isHeld} />
        </div>
        <Modal.Body>
          <HoldContext value={setHeld}>{children}</HoldContext>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
};
