// Values of options as people write them. What cannot be read is refused before anything is sent.

import { InvalidArgumentError, Option } from 'commander';
import type { Money } from '../core/cost.ts';
import { grantSchema } from '../core/grants.ts';

const DIGITS_MAX = 9;
const MICROS = 1_000_000;
const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function whole(value: string): number {
  if (!/^[1-9]\d*$/.test(value) || value.length > DIGITS_MAX)
    throw new InvalidArgumentError(`It is a whole number from 1, at most ${DIGITS_MAX} digits.`);
  return Number(value);
}

/** "1.50" in micros. */
export function amount(value: string): number {
  const [, units = '', fraction = ''] = /^(\d+)(?:\.(\d{1,6}))?$/.exec(value) ?? [];
  const micros = Number(units) * MICROS + Number(fraction.padEnd(6, '0'));
  if (units === '' || units.length > DIGITS_MAX || micros === 0)
    throw new InvalidArgumentError('It is a decimal above 0 with at most six places, e.g. 1.50.');
  return micros;
}

/** "USD 1.50" */
export function money(value: string): Money {
  const [, currency, decimal] = /^([A-Z]{3}) (\S+)$/.exec(value) ?? [];
  if (currency === undefined || decimal === undefined)
    throw new InvalidArgumentError('It is a currency and an amount, e.g. "USD 1.50".');
  return { currency, micros: amount(decimal) };
}

/** "90s", "15m", "2h", "7d" in ms. */
export function duration(value: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d*)(ms|s|m|h|d)$/.exec(value) ?? [];
  if (count === '' || count.length > DIGITS_MAX)
    throw new InvalidArgumentError('It is a whole number and ms, s, m, h or d, e.g. 90s or 2h.');
  return Number(count) * unitsMs[unit as keyof typeof unitsMs];
}

/** Is one; the last of two would win silently. */
export function once(flag: string) {
  return (value: string, previous: string | undefined) => {
    if (previous !== undefined) throw new InvalidArgumentError(`${flag} can be given once.`);
    return value;
  };
}

export const NO_GRANT = 'none';

export function grantOption(meaning: string): Option {
  const names = [...grantSchema.options, NO_GRANT];
  return new Option('--grant <name...>', `${meaning}: ${names.join(', ')}`).choices(names);
}
