import { useCallback } from 'react';
import { type NavigateOptions, useLocation, useSearchParams } from 'react-router';

/** For a change that is no step of its own for the browser's way back, and leaves the page where it is scrolled to. */
export const IN_PLACE: NavigateOptions = { replace: true, preventScrollReset: true };

type Change = (edit: (params: URLSearchParams) => void, options?: NavigateOptions) => void;

/**
 * The parameters of the page's address as they are drawn, and how to change some of them. A change begins with the address
 * as it is at that moment: what was drawn last may be older, and would bring back what has just been taken away. Where
 * another page is on its way already, nothing is changed: it would lead back.
 */
export function useAddress(): [params: URLSearchParams, change: Change] {
  const [params, setParams] = useSearchParams();
  const { pathname } = useLocation();
  const change = useCallback<Change>(
    (edit, options) => {
      const drawn = new URL(pathname, window.location.origin).pathname;
      if (window.location.pathname !== drawn) return;
      const next = new URLSearchParams(window.location.search);
      edit(next);
      setParams(next, options);
    },
    [pathname, setParams],
  );
  return [params, change];
}

/** Takes the parameter away where the value is empty. */
export function putParam(params: URLSearchParams, name: string, value: string): void {
  if (value) params.set(name, value);
  else params.delete(name);
}

/** One parameter of the page's address; empty where it is not there. Setting it to an empty text takes it away. */
export function useAddressParam(
  name: string,
  { replace = false } = {},
): [value: string, set: (value: string) => void] {
  const [params, change] = useAddress();
  const set = (value: string): void => change((next) => putParam(next, name, value), { replace });
  return [params.get(name) ?? '', set];
}
