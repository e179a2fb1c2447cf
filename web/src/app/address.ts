import { useSearchParams } from 'react-router';

/** One parameter of the page's address; empty where it is not there. Setting it to an empty text takes it away. */
export function useAddressParam(
  name: string,
  { replace = false } = {},
): [value: string, set: (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = (value: string): void =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value) next.set(name, value);
        else next.delete(name);
        return next;
      },
      { replace },
    );
  return [params.get(name) ?? '', set];
}
