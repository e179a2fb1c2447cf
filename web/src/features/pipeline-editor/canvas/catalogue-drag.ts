/** What is dragged from the catalogue onto the canvas. */
import type { NewComponent } from '../model/edits.ts';

const TYPE = 'application/x-headgate-component';

export function putComponent(transfer: DataTransfer, component: NewComponent): void {
  transfer.setData(TYPE, JSON.stringify(component));
  transfer.effectAllowed = 'copy';
}

export const hasComponent = (transfer: DataTransfer): boolean => transfer.types.includes(TYPE);

/** Null for whatever else was dropped. */
export function takeComponent(transfer: DataTransfer): NewComponent | null {
  const text = transfer.getData(TYPE);
  if (text === '') return null;
  try {
    const value: NewComponent = JSON.parse(text);
    return typeof value.type === 'string' && ['SOURCE', 'TRANSFORM', 'SINK'].includes(value.kind)
      ? value
      : null;
  } catch {
    return null;
  }
}
