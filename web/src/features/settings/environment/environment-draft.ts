/** What is wrong with the texts of an environment's form; empty where nothing is. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9 _-]{0,99}$/;

export const problemOfName = (text: string): string =>
  NAME.test(text) ? '' : 'Letters, digits, spaces, _ and -; begin with a letter or a digit; at most 100.';

export const problemOfLimit = (text: string): string => {
  if (text.trim() === '') return '';
  const limit = Number(text);
  return Number.isInteger(limit) && limit >= 1 && limit <= 1_000_000
    ? ''
    : 'A whole number from 1 to 1,000,000, or nothing.';
};

export const problemOfDays = (text: string): string =>
  /^\d{1,4}$/.test(text.trim()) && Number(text) <= 3_650 ? '' : 'A whole number of days from 0 to 3,650.';

export const problemOfPrice = (text: string): string => {
  if (text.trim() === '') return '';
  const price = Number(text);
  return Number.isFinite(price) && price >= 0 && price <= 1_000_000
    ? ''
    : 'A number from 0 to 1,000,000, with a point, or nothing.';
};
