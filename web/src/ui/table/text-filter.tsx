import { useAddressParam } from '../../app/search-params.ts';
import { SearchInput } from '../form/search-input.tsx';

/** A filter whose text is a search parameter. */
export const TextFilter = ({ param, label }: { param: string; label: string }) => {
  const [value, setValue] = useAddressParam(param, { replace: true });
  return <SearchInput label={label} value={value} onChange={setValue} />;
};
