/** Renders components and hooks without a browser, for unit tests. React and queries are packages of this folder alone. */
import { createElement, type FunctionComponent, useState } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

export { QueryClient, QueryObserver } from '@tanstack/react-query';

export const toStaticMarkup = <Props extends object>(
  component: FunctionComponent<Props>,
  props: Props,
): string => renderToStaticMarkup(createElement(component, props));

/**
 * What a hook gives in one render after another, with an act after each but the last. For hooks without effects: all of
 * it is one render to a string, which React begins again when a state changes.
 */
export function rendersOf<T>(hook: (render: number) => T, acts: readonly ((given: T) => void)[]): T[] {
  const renders: T[] = [];
  const Probe = (): null => {
    const [render, setRender] = useState(0);
    const given = hook(render);
    renders[render] = given;
    acts[render]?.(given);
    if (render < acts.length) setRender(render + 1);
    return null;
  };
  toStaticMarkup(Probe, {});
  return renders;
}
