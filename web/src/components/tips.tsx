/**
 * Hints for anything that carries `data-tip`, shown on hover and on keyboard focus. One listener and one
 * element for the page: a table of thousands of rows then pays nothing for its hints.
 */
import { useEffect, useState } from 'react';
import { createPortal } from 'react-dom';

interface Tip {
  text: string;
  x: number;
  y: number;
  below: boolean;
}

const MARGIN = 8;
const HALF_WIDTH = 160;
const DELAY_MS = 250;

export const TipLayer = () => {
  const [tip, setTip] = useState<Tip | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = (): void => {
      clearTimeout(timer);
      setTip(null);
    };
    const show = (event: Event, delay: number): void => {
      clearTimeout(timer);
      const owner = event.target instanceof Element ? event.target.closest('[data-tip]') : null;
      // The pointer may rest on the hint itself.
      if (!owner) {
        if (!(event.target instanceof Element && event.target.closest('.tip'))) hide();
        return;
      }
      timer = setTimeout(() => {
        const text = owner.getAttribute('data-tip');
        if (!text || !owner.isConnected) return;
        const box = owner.getBoundingClientRect();
        const below = box.top < 96;
        const middle = box.left + box.width / 2;
        setTip({
          text,
          x: Math.max(Math.min(middle, window.innerWidth - HALF_WIDTH - MARGIN), HALF_WIDTH + MARGIN),
          y: below ? box.bottom + MARGIN : box.top - MARGIN,
          below,
        });
      }, delay);
    };
    const onOver = (event: Event): void => show(event, DELAY_MS);
    const onFocus = (event: Event): void => {
      if (event.target instanceof Element && event.target.matches(':focus-visible')) show(event, 0);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') hide();
    };
    document.addEventListener('mouseover', onOver);
    document.addEventListener('focusin', onFocus);
    document.addEventListener('focusout', hide);
    document.addEventListener('mousedown', hide);
    document.addEventListener('keydown', onKey);
    window.addEventListener('scroll', hide, { passive: true, capture: true });
    return () => {
      hide();
      document.removeEventListener('mouseover', onOver);
      document.removeEventListener('focusin', onFocus);
      document.removeEventListener('focusout', hide);
      document.removeEventListener('mousedown', hide);
      document.removeEventListener('keydown', onKey);
      window.removeEventListener('scroll', hide, { capture: true });
    };
  }, []);
  if (!tip) return null;
  // Inside the page's landmark, as whatever is to be read should be.
  return createPortal(
    <div
      className="tip"
      role="tooltip"
      data-below={tip.below || undefined}
      style={{ left: tip.x, top: tip.y }}
    >
      {tip.text}
    </div>,
    document.querySelector('main') ?? document.body,
  );
};
