/** On the same page: settings stand in every environment, and outside of them. */
export const userHref = (id: string): string => `?${new URLSearchParams({ tab: 'users', user: id })}`;
