import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  opened: boolean;
  close: () => void;
  children: ReactNode;
  size?: 'sm' | 'md' | 'lg';
}

/** A dialog that holds the focus until it is closed. Its head is no `<header>`: the page has its one banner. */
export const Dialog = ({ title, opened, close, children, size = 'md' }: Props) => (
  <Modal.Root opened={opened} onClose={close} size={size} centered transitionProps={{ duration: 120 }}>
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
