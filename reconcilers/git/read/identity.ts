/** The key of manifests and inventory lines in maps: kind and folded name. */
export const identity = (kind: string, nameKey: string): string => `${kind}/${nameKey}`;
export const identityOf = ({ kind, nameKey }: { kind: string; nameKey: string }): string =>
  identity(kind, nameKey);
