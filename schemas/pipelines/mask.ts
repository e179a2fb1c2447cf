/** In the place of a credential, for users and models who may only read. */
export const MASK = '••••••';
