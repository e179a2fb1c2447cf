/** What manifests and lines of the inventory are called in maps: kind and folded name. */
export const identity = (kind: string, nameKey: string): string => `${kind}/${nameKey}`;
export const identityOf = ({ kind, nameKey }: { kind: string; nameKey: string }): string =>
  identity(kind, nameKey);
