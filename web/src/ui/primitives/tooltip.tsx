/**
 * Tooltips of whatever carries `data-tip`, shown on hover and on keyboard focus. One listener and one tooltip for the
 * page: a table of thousands of rows pays nothing for its tooltips.
 */
import { Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';

const DELAY_MS = 250;
const MAX_WIDTH_PX = 320;

export const TooltipLayer = () => {
  const [owner, setOwner] = useState<HTMLElement | null>(null);
  useEffect(() => {
    const listening = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = (): void => {
      clearTimeout(timer);
      setOwner(null);
    };
    const show = ({ target }: Event, delay: number): void => {
      clearTimeout(timer);
      const next = target instanceof Element ? target.closest<HTMLElement>('[data-tip]') : null;
      if (next) timer = setTimeout(() => setOwner(next), delay);
      // The pointer may rest on the tooltip itself.
      else if (!(target instanceof Element && target.closest('[role="tooltip"]'))) setOwner(null);
    };
    const on = (name: string, listener: (event: Event) => void): void =>
      document.addEventListener(name, listener, {
        signal: listening.signal,
        passive: true,
        capture: name === 'scroll',
      });
    on('mouseover', (event) => show(event, DELAY_MS));
    on('focusin', (event) => {
      if (event.target instanceof Element && event.target.matches(':focus-visible')) show(event, 0);
    });
    for (const name of ['focusout', 'mousedown', 'scroll']) on(name, hide);
    on('keydown', (event) => {
      if (event instanceof KeyboardEvent && event.key === 'Escape') hide();
    });
    return () => {
      hide();
      listening.abort();
    };
  }, []);
  const text = owner?.isConnected ? owner.dataset.tip : undefined;
  if (!owner || !text) return null;
  return (
    <Tooltip
      opened
      label={text}
      target={owner}
      multiline
      maw={MAX_WIDTH_PX}
      // Inside the page's landmark, as whatever is to be read should be.
      portalProps={{ target: document.querySelector<HTMLElement>('main') ?? undefined }}
    />
  );
};
