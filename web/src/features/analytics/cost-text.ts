/** Volumes and money as people read them. */

/** In the currency of the price, which Headgate does not know. */
export const formatMoney = (amount: number): string =>
  amount.toLocaleString('en', {
    minimumFractionDigits: 2,
    maximumFractionDigits: amount !== 0 && Math.abs(amount) < 1 ? 4 : 2,
  });

/** `12 % more than before`; empty where there is nothing to compare with. */
export function changeText(now: number, before: number): string {
  if (before <= 0) return '';
  const share = (now - before) / before;
  const percent = Math.round(Math.abs(share) * 100);
  if (percent === 0) return 'as before';
  return `${percent.toLocaleString('en')} % ${share > 0 ? 'more' : 'less'} than before`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Of 1,000 each, as a price counts them: `386 GB`. */
export function formatPricedBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** step;
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })} ${UNITS[step]}`;
}
