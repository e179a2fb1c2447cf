import { Modal } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';

interface Props {
  title: string;
  opened: boolean;
  close: () => void;
  children: ReactNode;
  size?: 'sm' | 'md' | 'lg' | 'xl';
}

/** A dialog that holds the focus until it is closed. Its head is no `<header>`: the page has its one banner. */
export const Dialog = ({ title, opened, close, children, size = 'md' }: Props) => {
  // What had the focus is noted when it opens, not when it comes: one that is open from the start could not give it back.
  const [isThere, setThere] = useState(false);
  useEffect(() => setThere(true), []);
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
