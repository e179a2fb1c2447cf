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
