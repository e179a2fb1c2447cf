import { Menu } from '@mantine/core';
import { Fragment, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { IconButton } from './button.tsx';
import { Icon, type IconName } from './icons.tsx';

interface Props {
  /** With the name of what is acted on: it is read out alone. */
  label: string;
  /** What is in it. `button` takes the focus before a dialog opens: the dialog gives it back, and the entry is gone by then. */
  children: (button: RefObject<HTMLButtonElement | null>) => ReactNode;
}

/** A list has hundreds of these: until one is used it is a mere button. */
export const LateMenu = ({ label, children }: Props) => {
  const [isUsed, setUsed] = useState(false);
  const [opened, setOpened] = useState(false);
  const target = useRef<HTMLButtonElement>(null);
  // The menu gives the focus back to what had it when it opened: that must be the button inside it.
  useEffect(() => {
    if (!isUsed) return;
    target.current?.focus();
    setOpened(true);
  }, [isUsed]);
  const button = (
    <IconButton
      icon="more"
      ref={target}
      label={label}
      aria-haspopup="menu"
      onClick={isUsed ? undefined : () => setUsed(true)}
    />
  );
  if (!isUsed) return button;
  return (
    <Menu
      opened={opened}
      onChange={setOpened}
      returnFocus
      position="bottom-end"
      width={260}
      shadow="md"
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>{children(target)}</Menu.Dropdown>
    </Menu>
  );
};

export interface RowMenuItem {
  word: string;
  icon: IconName;
  disabled?: boolean;
  /** A line above it: it is of another kind than those before. */
  apart?: boolean;
  run: () => void;
}

interface RowMenuProps {
  label: string;
  items: readonly RowMenuItem[];
  /** Why some of it may not be done. */
  reasons?: readonly string[];
}

export const RowMenu = ({ label, items, reasons = [] }: RowMenuProps) => {
  // Where nothing may be done, the first entry says so: a menu without the focus hears no key.
  const first = Math.max(
    items.findIndex((item) => !item.disabled),
    0,
  );
  return (
    <LateMenu label={label}>
      {(button) => (
        <>
          {reasons.map((reason) => (
            <Menu.Label key={reason} className="menu-reason">
              {reason}
            </Menu.Label>
          ))}
          {items.map(({ word, icon, disabled, apart, run }, place) => (
            <Fragment key={word}>
              {apart && <Menu.Divider />}
              <Menu.Item
                leftSection={<Icon name={icon} size={14} />}
                // Not `disabled`, which takes no focus.
                data-disabled={disabled || undefined}
                aria-disabled={disabled || undefined}
                data-autofocus={place === first || undefined}
                onClick={() => {
                  if (disabled) return;
                  button.current?.focus();
                  run();
                }}
              >
                {word}
              </Menu.Item>
            </Fragment>
          ))}
        </>
      )}
    </LateMenu>
  );
};
